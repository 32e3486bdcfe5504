using System.CommandLine;
using System.Globalization;
using Corfu.Agent;
using Corfu.Client;
using Corfu.Hosting;
using Corfu.Protocol;
using Corfu.Transport;

namespace Corfu.Load;

/// <summary><c>rebuild</c>: a unit is replaced and rebuilt while appends are held at half their maximum, beside a bare
/// copy under the same load.</summary>
internal static class RebuildCommand
{
    private const int Callers = 128;
    private const int FillCallers = 1024;

    public static Command Create()
    {
        var entries = new Option<int>("--entries")
        {
            Description = "Entries in the log before the unit is replaced.",
            DefaultValueFactory = _ => 100000
        };
        var size = new Option<int>("--size")
        {
            Description = "Payload bytes of an entry.",
            DefaultValueFactory = _ => 4096
        };
        var directory = new Option<DirectoryInfo?>("--dir",
            "-d")
        { Description = "Where the files go (default: a temporary folder)." };
        var defaults = new RebuildOptions();
        var batches = new Option<int>("--batches")
        {
            Description = "Batches of a rebuild on their way at once.",
            DefaultValueFactory = _ => defaults.BatchesInFlight
        };
        var frames = new Option<int>("--frames")
        {
            Description = "Frames of entries of a rebuild on their way at once.",
            DefaultValueFactory = _ => defaults.FramesInFlight
        };
        var frame = new Option<int>("--frame")
        {
            Description = "Bytes of entries in a frame.",
            DefaultValueFactory = _ => defaults.FrameBytes
        };
        var command = new Command("rebuild", "Rebuild of a replaced unit under held appends, beside a bare copy.")
        { entries, size, directory, batches, frames, frame };
        command.SetAction(async (result, cancellationToken) =>
        {
            using var folder = new WorkFolder(result.GetValue(directory));
            var processes = new ProcessCluster(NodeCommandLine.Self(NodeProcessCommand.Name));
            var path = Path.Combine(folder.Path, "rebuilt");
            var state = await processes.UpWholeAsync(path,
                new ClusterShape { Units = 3, Replicas = 2, Spares = 1, Automatic = false }, cancellationToken);
            try
            {
                var options = defaults with
                {
                    BatchesInFlight = result.GetValue(batches),
                    FramesInFlight = result.GetValue(frames),
                    FrameBytes = result.GetValue(frame)
                };
                await RunAsync(state, folder.Path, result.GetValue(entries), result.GetValue(size), options,
                    cancellationToken);
                return 0;
            }
            finally
            {
                await processes.DownAsync(path, CancellationToken.None);
            }
        });
        return command;
    }

    private static async Task RunAsync(ClusterState state, string folder, int entries, int size, RebuildOptions options,
        CancellationToken cancellationToken)
    {
        await using var client = await CorfuClient.ConnectAsync(state.ConnectionString,
            cancellationToken: cancellationToken);
        var fill = new HeldAppends(client, FillCallers, size, null);
        while (fill.Done < entries) await Task.Delay(10, cancellationToken);
        await fill.StopAsync();
        var full = new HeldAppends(client, Callers, size, null);
        var max = await full.MeasureAsync(() => Task.Delay(3000, cancellationToken));
        await full.StopAsync();

        var load = new HeldAppends(client, Callers, size, max / 2);
        var alone = await load.MeasureAsync(() => Task.Delay(3000, cancellationToken));
        var bare = 0.0;
        var duringBare =
            await load.MeasureAsync(async () => bare = await BareCopy.RunAsync(folder, size, TimeSpan.FromSeconds(4)));

        using var transport = new TcpTransport(new TcpTransportOptions { Cluster = state.Cluster });
        var spare = state.Nodes.First(n => n.Role == NodeRole.Unit && !client.Projection.HasUnit(n.Id));
        var operations = new ClusterOperations(client.Cluster, transport, TimeProvider.System);
        await operations.ReplaceUnitAsync(client.Projection.Units[0].Id, [new NodeAddress(spare.Id, spare.Endpoint)],
            "measured", cancellationToken);
        var rebuilder = new Rebuilder(client.Cluster, transport, TimeProvider.System, options: options);
        var during = await load.MeasureAsync(() => rebuilder.RunAsync(cancellationToken));
        await load.StopAsync();
        var progress = rebuilder.Progress;
        var seconds = progress.Elapsed.TotalSeconds;
        var rebuilt = progress.CopiedBytes / seconds;
        await Console.Out.WriteLineAsync(string.Create(
            CultureInfo.InvariantCulture,
            $"""
            rebuild: {progress.Copied} entries of {size} bytes, 3 unit processes, 2 replicas
              {RunInfo.Current.Machine}, commit {RunInfo.Current.Commit}
              appends at most      {max,10:0} /s
              appends held         {alone,10:0} /s
              bare copy            {bare / 1e6,10:0.0} MB/s (appends {duringBare:0} /s)
              rebuild              {rebuilt / 1e6,10:0.0} MB/s, {rebuilt / bare:0.00} of the bare copy, {seconds:0.00} s
              appends meanwhile    {during,10:0} /s, {during / alone:0.00} of the held rate
            """));
    }
}
