using System.CommandLine;
using System.Diagnostics;
using Corfu.Client;
using Corfu.Hosting;
using Corfu.Protocol;

namespace Corfu.Load;

/// <summary><c>failover</c>: a process of a loaded cluster is killed, the agents heal it, and the pauses are measured.</summary>
internal static class FailoverCommand
{
    private static readonly TimeSpan TypicalDetection = TimeSpan.FromMilliseconds(280);

    public static Command Create()
    {
        var kind = new Argument<string>("kind") { Description = "unit or sequencer" };
        kind.AcceptOnlyFromAmong("unit", "sequencer");
        var appenders = new Option<int>("--appenders") { DefaultValueFactory = _ => 64 };
        var streams = new Option<int>("--streams") { Description = "Live streams.", DefaultValueFactory = _ => 0 };
        var rounds = new Option<int>("--rounds") { DefaultValueFactory = _ => 5 };
        var kills = new Option<int>("--kills") { Description = "Kills one after another in the same cluster: the first one meets code that has hardly run.", DefaultValueFactory = _ => 1 };
        var warmUp = new Option<double>("--warm-up") { Description = "Seconds of appends before the first kill.", DefaultValueFactory = _ => 15 };
        var stop = new Option<bool>("--stop") { Description = "Freeze the process (SIGSTOP) instead of killing it." };
        var log = new Option<bool>("--log") { Description = "Print what all nodes logged from each kill until every appender went on." };
        var directory = new Option<DirectoryInfo?>("--dir", "-d");
        var command = new Command("failover", "Kill a unit or the sequencer under appends; each round on a new cluster.") { kind, appenders, streams, rounds, kills, warmUp, stop, log, directory };
        command.SetAction(async (result, cancellationToken) =>
        {
            List<FailoverRound>[] done = [.. Enumerable.Range(0, result.GetValue(kills)).Select(_ => new List<FailoverRound>())];
            for (var i = 0; i < result.GetValue(rounds); i++)
            {
                using var folder = new WorkFolder(result.GetValue(directory));
                var run = await RunAsync(
                    folder.Path, result.GetRequiredValue(kind), result.GetValue(appenders), result.GetValue(streams), result.GetValue(stop), done.Length,
                    TimeSpan.FromSeconds(result.GetValue(warmUp)), result.GetValue(log), cancellationToken);
                for (var kill = 0; kill < done.Length; kill++)
                {
                    Console.WriteLine(Named(kill, run[kill]));
                    done[kill].Add(run[kill]);
                }
            }

            for (var kill = 0; kill < done.Length; kill++) Console.WriteLine($"median: {Named(kill, Median(done[kill]))}");
            return done.All(of => of.All(round => round.Failed == 0)) ? 0 : 1;

            string Named(int kill, FailoverRound round) => done.Length == 1 ? $"{round}" : $"kill {kill + 1}: {round}";
        });
        return command;
    }

    private static FailoverRound Median(List<FailoverRound> rounds)
    {
        double Of(Func<FailoverRound, double> figure) => rounds.Select(figure).Order().ElementAt(rounds.Count / 2);
        return new FailoverRound(
            Of(r => r.DetectionMs), Of(r => r.ResumeMs), Of(r => r.AllResumeMs), (Of(r => r.Pause.First), Of(r => r.Pause.All)), rounds.Sum(r => r.Appended), rounds.Sum(r => r.Failed), rounds.Sum(r => r.Unknown));
    }

    private static async Task<List<FailoverRound>> RunAsync(
        string path, string kind, int appenders, int streams, bool stop, int kills, TimeSpan warmUp, bool log, CancellationToken cancellationToken)
    {
        var processes = new ProcessCluster(NodeCommandLine.Self(NodeProcessCommand.Name));
        var folder = Path.Combine(path, "cluster");
        var state = await processes.UpWholeAsync(folder, new ClusterShape { Units = 3, Replicas = 2, Spares = kills, Sequencers = kills + 1 }, cancellationToken);
        try
        {
            await using var client = await CorfuClient.ConnectAsync(state.ConnectionString, cancellationToken: cancellationToken);
            await OpenStreamsAsync(client, streams);
            var run = new FailoverRun(client, appenders, streams);
            await run.WarmUpAsync(warmUp);
            List<FailoverRound> rounds = [];
            for (var kill = 0; kill < kills; kill++)
            {
                await RebuiltAsync(client, cancellationToken);
                var pause = await run.PauseAsync(TypicalDetection, cancellationToken);
                await Task.Delay(TimeSpan.FromSeconds(1), cancellationToken);
                var (appended, before) = (run.Appended, client.Projection.Epoch);
                var endpoint = kind == "unit" ? client.Projection.AddressOf(client.Projection.Active.Chains[0].Head).Endpoint : client.Projection.Sequencer.Endpoint;
                using var victim = Process.GetProcessById(state.Nodes.First(node => node.Endpoint == endpoint).ProcessId!.Value);
                var killed = DateTimeOffset.UtcNow;
                if (stop) await SignalAsync("STOP", victim.Id);
                else victim.Kill();
                await run.HealAsync(before, TimeSpan.FromSeconds(3));
                if (stop) await SignalAsync("CONT", victim.Id);
                var detected = DetectedAt(folder, killed);
                var (first, last) = run.ResumedAt(before);
                if (log) PrintLog(state, folder, killed, first, last);
                rounds.Add(new FailoverRound(
                    (detected - killed).TotalMilliseconds, (first - detected).TotalMilliseconds, (last - detected).TotalMilliseconds, pause, run.Appended - appended, 0, 0));
            }

            await run.FinishAsync();
            rounds[^1] = rounds[^1] with { Failed = run.Failed, Unknown = run.Unknown };
            return rounds;
        }
        finally
        {
            await processes.DownAsync(folder, CancellationToken.None);
        }
    }

    // While a spare is still being rebuilt, there would be nobody to stand for the next victim.
    private static async Task RebuiltAsync(CorfuClient client, CancellationToken cancellationToken)
    {
        while (client.Projection.Segments.Any(segment => segment.Chains.Any(chain => chain.FullCount < chain.Replicas.Length))) await Task.Delay(100, cancellationToken);
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

    private static void PrintLog(ClusterState state, string folder, DateTimeOffset killed, DateTimeOffset first, DateTimeOffset last)
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
        DateTimeOffset.TryParse(line.Split(' ')[0], System.Globalization.CultureInfo.InvariantCulture, out var at) ? at : null;

    // The first agent that acted says so in its log, to the microsecond.
    private static DateTimeOffset DetectedAt(string folder, DateTimeOffset after) => Directory.EnumerateFiles(folder, "*.log", SearchOption.AllDirectories)
        .SelectMany(File.ReadLines)
        .Where(line => line.Contains("Reconfiguring:", StringComparison.Ordinal))
        .Select(At)
        .OfType<DateTimeOffset>()
        .Where(at => at >= after)
        .Min();
}
