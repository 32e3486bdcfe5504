using System.CommandLine;
using System.Diagnostics;
using System.Globalization;
using Corfu.Client;
using Corfu.Hosting;
using Corfu.Protocol;

namespace Corfu.Load;

/// <summary><c>failover</c>: a process of a loaded cluster is killed, then one is frozen; the agents heal it, and the
/// times are measured.</summary>
internal static class FailoverCommand
{
    private static readonly string[] Faults = ["killed", "frozen"];

    public static Command Create()
    {
        var kind = new Argument<string>("kind") { Description = "unit or sequencer" };
        kind.AcceptOnlyFromAmong("unit", "sequencer");
        var only = new Option<string?>("--only")
        { Description = "killed (SIGKILL) or frozen (SIGSTOP); without it both." };
        only.AcceptOnlyFromAmong(Faults);
        var appenders = new Option<int>("--appenders") { DefaultValueFactory = _ => 64 };
        var streams = new Option<int>("--streams") { Description = "Live streams.", DefaultValueFactory = _ => 0 };
        var rounds = new Option<int>("--rounds") { DefaultValueFactory = _ => 5 };
        var warmUp = new Option<double>("--warm-up")
        {
            Description = "Seconds of appends before the fault.",
            DefaultValueFactory = _ => 15
        };
        var log = new Option<bool>("--log")
        { Description = "Print what all nodes logged from each fault until every appender went on." };
        var directory = new Option<DirectoryInfo?>("--dir", "-d");
        var command = new Command("failover",
            "Kill or freeze a unit or the sequencer under appends; each round on a new cluster.")
        {
            kind, only, appenders, streams, rounds, warmUp, log, directory,
        };
        command.SetAction(async (result, cancellationToken) =>
        {
            Console.WriteLine($"{RunInfo.Current.Machine}, commit {RunInfo.Current.Commit}");
            await PrintBareAsync(result.GetValue(directory));
            var failed = 0L;
            foreach (var fault in result.GetValue(only) is { } one ? [one] : Faults)
            {
                var done = new List<FailoverRound>();
                for (var i = 0; i < result.GetValue(rounds); i++)
                {
                    using var folder = new WorkFolder(result.GetValue(directory));
                    var setting = new FailoverSetting(
                        result.GetRequiredValue(kind), fault == "frozen", result.GetValue(appenders),
                        result.GetValue(streams),
                        TimeSpan.FromSeconds(result.GetValue(warmUp)), result.GetValue(log));
                    done.Add(await RunAsync(folder.Path, setting, cancellationToken));
                    Console.WriteLine($"{fault} {result.GetRequiredValue(kind)}: {done[^1]}");
                }

                failed += done.Sum(round => round.Failed);
                Console.WriteLine($"median of {done.Count}: {fault} {result.GetRequiredValue(kind)}: {Median(done)}");
            }

            return failed == 0 ? 0 : 1;
        });
        return command;
    }

    // Prints the best figures of the machine, without a cluster.
    private static async Task PrintBareAsync(DirectoryInfo? directory)
    {
        const int size = 128;
        var time = TimeSpan.FromSeconds(1);
        using var folder = new WorkFolder(directory);
        using var echo = BareRoleProcess.Start(BareRoleCommand.Echo);
        await using var workload = Workloads.OpenEcho(await echo.AddressAsync());
        var (histogram, _, _) = await ClosedLoop.RunAsync(1, time, workload.Prepare(1, size));
        var disk = BareDisk.Run(folder.Path, size, time);
        Console.WriteLine(string.Create(
            CultureInfo.InvariantCulture,
            $"bare echo p50 {histogram.Microseconds(50) / 1e3:0.000} ms, "
            + $"p99 {histogram.Microseconds(99) / 1e3:0.000} ms; "
            + $"bare write+fdatasync p50 {disk.P50 / 1e3:0.000} ms, p99 {disk.P99 / 1e3:0.000} ms"));
    }

    private static FailoverRound Median(List<FailoverRound> rounds)
    {
        double Of(Func<FailoverRound, double> figure) => rounds.Select(figure).Order().ElementAt(rounds.Count / 2);
        return new FailoverRound(
            Of(r => r.DetectionMs), Of(r => r.ResumeMs), Of(r => r.AllResumeMs), rounds.Sum(r => r.Appended),
            rounds.Sum(r => r.Failed),
            rounds.Sum(r => r.Unknown));
    }

    private static async Task<FailoverRound> RunAsync(string path, FailoverSetting setting,
        CancellationToken cancellationToken)
    {
        var processes = new ProcessCluster(NodeCommandLine.Self(NodeProcessCommand.Name));
        var folder = Path.Combine(path, "cluster");
        var shape = new ClusterShape { Units = 3, Replicas = 2, Spares = 1, Sequencers = 2 };
        var state = await processes.UpWholeAsync(folder, shape, cancellationToken);
        try
        {
            await using var client = await CorfuClient.ConnectAsync(state.ConnectionString,
                cancellationToken: cancellationToken);
            await OpenStreamsAsync(client, setting.Streams);
            var run = new FailoverRun(client, setting.Appenders, setting.Streams);
            await run.WarmUpAsync(setting.WarmUp);
            await RebuiltAsync(client, cancellationToken);
            var before = client.Projection.Epoch;
            var projection = client.Projection;
            var endpoint = setting.Kind == "unit"
                ? projection.AddressOf(projection.Active.Chains[0].Head).Endpoint
                : projection.Sequencer.Endpoint;
            using var victim =
                Process.GetProcessById(state.Nodes.First(node => node.Endpoint == endpoint).ProcessId!.Value);
            var killed = DateTimeOffset.UtcNow;
            if (setting.Freeze) await SignalAsync("STOP", victim.Id);
            else victim.Kill();
            await run.HealAsync(before, TimeSpan.FromSeconds(3));
            if (setting.Freeze) await SignalAsync("CONT", victim.Id);
            var detected = DetectedAt(folder, killed);
            var (first, last) = run.ResumedAt(before);
            if (setting.Log) PrintLog(state, folder, killed, first, last);
            await run.FinishAsync();
            return new FailoverRound(
                (detected - killed).TotalMilliseconds, (first - detected).TotalMilliseconds,
                (last - detected).TotalMilliseconds,
                run.Appended, run.Failed, run.Unknown);
        }
        finally
        {
            await processes.DownAsync(folder, CancellationToken.None);
        }
    }

    private sealed record FailoverSetting(string Kind, bool Freeze, int Appenders, int Streams, TimeSpan WarmUp,
        bool Log);

    // While a spare is still being rebuilt, no unit could stand in for the next victim.
    private static async Task RebuiltAsync(CorfuClient client, CancellationToken cancellationToken)
    {
        while (client.Projection.Segments.Any(
            segment => segment.Chains.Any(chain => chain.FullCount < chain.Replicas.Length)))
            await Task.Delay(100, cancellationToken);
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
                .Select(
                    id =>
                        client.AppendAsync(new byte[16], [.. Enumerable.Range(id, each).Select(FailoverRun.Stream)])
                            .AsTask());
            foreach (var result in await Task.WhenAll(appends)) result.Require();
        }
    }

    private static void PrintLog(ClusterState state, string folder, DateTimeOffset killed, DateTimeOffset first,
        DateTimeOffset last)
    {
        foreach (var node in state.Nodes) Console.WriteLine($"{node.Endpoint}: process {node.ProcessId}");
        var lines = from file in Directory.EnumerateFiles(folder, "*.log", SearchOption.AllDirectories)
                    from line in File.ReadLines(file)
                    let at = At(line)
                    where at >= killed && at <= last
                    orderby at
                    select $"{line} [{Path.GetRelativePath(folder, file)}]";
        foreach (var line in lines) Console.WriteLine(line);
        Console.WriteLine($"{killed:O} killed\n{first:O} first append\n{last:O} every appender");
    }

    // Exceptions follow their line without a time of their own.
    private static DateTimeOffset? At(string line) =>
        DateTimeOffset.TryParse(line.Split(' ')[0], CultureInfo.InvariantCulture, out var at) ? at : null;

    // The first agent that acted says so in its log, to the microsecond.
    private static DateTimeOffset DetectedAt(string folder, DateTimeOffset after) =>
        Directory.EnumerateFiles(folder, "*.log", SearchOption.AllDirectories)
        .SelectMany(File.ReadLines)
        .Where(line => line.Contains("Reconfiguring:", StringComparison.Ordinal))
        .Select(At)
        .OfType<DateTimeOffset>()
        .Where(at => at >= after)
        .Min();
}
