using System.CommandLine;
using System.Diagnostics;
using Corfu.Client;
using Corfu.Hosting;
using Corfu.Protocol;

namespace Corfu.Load;

/// <summary><c>failover</c>: a process of a loaded cluster is killed, the agents heal it, and the pauses are measured.</summary>
internal static class FailoverCommand
{
    public static Command Create()
    {
        var kind = new Argument<string>("kind") { Description = "unit or sequencer" };
        kind.AcceptOnlyFromAmong("unit", "sequencer");
        var appenders = new Option<int>("--appenders") { DefaultValueFactory = _ => 64 };
        var streams = new Option<int>("--streams") { Description = "Live streams.", DefaultValueFactory = _ => 0 };
        var rounds = new Option<int>("--rounds") { DefaultValueFactory = _ => 5 };
        var stop = new Option<bool>("--stop") { Description = "Freeze the process (SIGSTOP) instead of killing it." };
        var directory = new Option<DirectoryInfo?>("--dir", "-d");
        var command = new Command("failover", "Kill a unit or the sequencer under appends; each round on a new cluster.") { kind, appenders, streams, rounds, stop, directory };
        command.SetAction(async (result, cancellationToken) =>
        {
            List<FailoverRound> done = [];
            for (var i = 0; i < result.GetValue(rounds); i++)
            {
                using var folder = new WorkFolder(result.GetValue(directory));
                var round = await RunAsync(folder.Path, result.GetRequiredValue(kind), result.GetValue(appenders), result.GetValue(streams), result.GetValue(stop), cancellationToken);
                Console.WriteLine(round);
                done.Add(round);
            }

            Console.WriteLine($"median: {Median(done)}");
            return done.All(round => round.Failed == 0) ? 0 : 1;
        });
        return command;
    }

    private static FailoverRound Median(List<FailoverRound> rounds)
    {
        double Of(Func<FailoverRound, double> figure) => rounds.Select(figure).Order().ElementAt(rounds.Count / 2);
        return new FailoverRound(
            Of(r => r.DetectionMs), Of(r => r.ResumeMs), Of(r => r.AllResumeMs), rounds.Sum(r => r.Appended), rounds.Sum(r => r.Failed), rounds.Sum(r => r.Unknown));
    }

    private static async Task<FailoverRound> RunAsync(string path, string kind, int appenders, int streams, bool stop, CancellationToken cancellationToken)
    {
        var processes = new ProcessCluster(NodeCommandLine.Self(NodeProcessCommand.Name));
        var folder = Path.Combine(path, "cluster");
        var state = await processes.UpAsync(folder, new ClusterShape { Units = 3, Replicas = 2, Spares = 1, Sequencers = 2 }, cancellationToken);
        try
        {
            await using var client = await CorfuClient.ConnectAsync(state.ConnectionString, cancellationToken: cancellationToken);
            await OpenStreamsAsync(client, streams);
            var run = new FailoverRun(client, appenders, streams);
            await run.WarmUpAsync(TimeSpan.FromSeconds(2));
            var before = client.Projection.Epoch;
            var name = kind == "unit" ? "unit-0" : "sequencer";
            using var victim = Process.GetProcessById(state.Nodes.First(node => node.Node == name).ProcessId!.Value);
            var killed = DateTimeOffset.UtcNow;
            if (stop) await SignalAsync("STOP", victim.Id);
            else victim.Kill();
            await run.FinishAsync(before, TimeSpan.FromSeconds(3));
            if (stop) await SignalAsync("CONT", victim.Id);
            var detected = DetectedAt(folder, killed);
            var (first, last) = run.ResumedAt(before);
            return new FailoverRound(
                (detected - killed).TotalMilliseconds, (first - detected).TotalMilliseconds, (last - detected).TotalMilliseconds, run.Appended, run.Failed, run.Unknown);
        }
        finally
        {
            await processes.DownAsync(folder, CancellationToken.None);
        }
    }

    private static async Task SignalAsync(string signal, int processId)
    {
        using var kill = Process.Start("kill", [$"-{signal}", $"{processId}"]);
        await kill.WaitForExitAsync();
    }

    // A thousand entries of a hundred streams each make a hundred thousand.
    private static async Task OpenStreamsAsync(CorfuClient client, int streams)
    {
        const int each = 100;
        for (var first = 0; first < streams; first += each * 64)
        {
            var appends = Enumerable.Range(0, 64).Select(i => first + (i * each)).Where(id => id < streams)
                .Select(id => client.AppendAsync(new byte[16], [.. Enumerable.Range(id, each).Select(s => new StreamId((ulong)(s + 1000)))]).AsTask());
            foreach (var result in await Task.WhenAll(appends)) result.Require();
        }
    }

    // The first agent that acted says so in its log, to the millisecond.
    private static DateTimeOffset DetectedAt(string folder, DateTimeOffset after) => Directory.EnumerateFiles(folder, "*.log", SearchOption.AllDirectories)
        .SelectMany(File.ReadLines)
        .Where(line => line.Contains("Reconfiguring:", StringComparison.Ordinal))
        .Select(line => DateTimeOffset.Parse(line.Split(' ')[0], System.Globalization.CultureInfo.InvariantCulture))
        .Where(at => at >= after.AddMilliseconds(-1))
        .Min();
}
