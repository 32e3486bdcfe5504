using Corfu.FaultRuns.Clients;
using Corfu.FaultRuns.Faults;
using Corfu.FaultRuns.Machine;
using Corfu.FaultRuns.Nodes;
using Corfu.Hosting;
using Tango;

namespace Corfu.FaultRuns.Transactions;

/// <summary>
/// Transactions of several client processes over shared objects, under faults, with checkpoints and trims; then a
/// search for anomalies. After that clients that make a known mistake, one kind after another: each must be found.
/// </summary>
internal sealed class TransactionRun(int seed, long count, ClientDecisions decisions, TextWriter output)
{
    private const int Clients = 4;
    private const long PlantedCount = 3000;
    private const int MaxTold = 10;
    private const string ListsFile = "lists";

    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(90);
    private static readonly TimeSpan s_tellEvery = TimeSpan.FromSeconds(20);
    private static readonly TimeSpan s_plantedPatience = TimeSpan.FromMinutes(3);

    // Signals need no privileges. Faults of networks and disks belong to the fault run.
    private static readonly Tools s_tools = new(false, false, false, []);

    private readonly Random _random = new(seed);
    private readonly int[] _starts = new int[Clients];
    private long _committed;
    private long _asked;

    /// <summary>Small, so that clients that start again find checkpoints and trimmed history.</summary>
    public static TangoOptions Options { get; } = new()
    {
        Checkpoints = new CheckpointPolicy { Updates = 500 },
        NewLogMaxSpan = 500,
    };

    public async Task<int> RunAsync(CancellationToken stop)
    {
        var undo = UndoList.New();
        try
        {
            output.WriteLine($"transactions: seed {seed}, decisions {decisions}, data in {undo.Folder}");
            var shape = new ClusterShape { Units = 3, Replicas = 2, Spares = 2, Sequencers = 2, Automatic = true };
            var rig = new ClusterRig(undo, s_tools, shape, 0);
            await rig.CreateAsync(0, _ => false);
            if (await rig.UpAsync() is { } trouble) throw new RunException(trouble);
            var failures = await RunMainAsync(undo, rig, stop);
            var (found, planted) = (0, Enum.GetValues<PlantedClient>()[1..]);
            foreach (var mistake in planted)
            {
                if (!stop.IsCancellationRequested && await IsFoundAsync(undo, rig, mistake, stop)) found++;
            }

            output.WriteLine(
                $"transactions {Math.Min(count, _committed)} decided_by_sequencer {_asked} anomalies {failures} "
                + $"planted_found {found}/{planted.Length}");
            return failures == 0 && _committed >= count && found == planted.Length ? 0 : 1;
        }
        finally
        {
            undo.Run();
        }
    }

    private async Task<int> RunMainAsync(UndoList undo, ClusterRig rig, CancellationToken stop)
    {
        var clients = await StartAsync(undo, rig, "main", PlantedClient.None, stop);
        var nemesis = new Nemesis(rig, clients, s_tools, _random);
        var loop = new FaultLoop(rig, clients, nemesis, nemesis.Kinds, _random, output);
        var told = TimeSpan.Zero;
        await loop.RunAsync(() =>
        {
            if (loop.Elapsed - told > s_tellEvery)
            {
                told = loop.Elapsed;
                output.WriteLine($"{told:mm\\:ss}  {Committed(clients)} committed");
            }

            return Committed(clients) >= count && !loop.HasMissing;
        }, stop);
        var failures = loop.Failures.ToList();
        if (await clients.StopAsync(s_patience) is { } hangs) failures.Add(hangs);
        loop.Tell();
        var (transactions, anomalies) = await JudgeAsync(rig, clients, "main", failures);
        _committed = transactions.Count(t => t.Fate == TxFate.Committed);
        CountAsked(clients, failures);
        await TellTrimsAsync(rig);
        output.WriteLine($"openings of clients, in seconds: {string.Join(' ', clients.All.Select(
            child => child.Last("committed ")?.Split(' ')[^1] ?? "-"))}");
        foreach (var anomaly in anomalies.Take(MaxTold)) output.WriteLine($"ANOMALY {anomaly}");
        foreach (var failure in failures.Take(MaxTold)) output.WriteLine($"FAILED {failure}");
        if (anomalies.Count + failures.Count > 0) await KeepAsync(undo, clients);
        return anomalies.Count + failures.Count;
    }

    private async Task<bool> IsFoundAsync(UndoList undo, ClusterRig rig, PlantedClient mistake, CancellationToken stop)
    {
        var clients = await StartAsync(undo, rig, $"planted-{mistake}", mistake, stop);
        await FaultLoop.WaitAsync(() => Committed(clients) >= PlantedCount, s_plantedPatience, stop);
        List<string> failures = [];
        if (await clients.StopAsync(s_patience) is { } hangs) failures.Add(hangs);
        var (transactions, anomalies) = await JudgeAsync(rig, clients, $"planted-{mistake}", failures);
        var kinds = string.Join(", ", anomalies.CountBy(a => a.Kind).Select(k => $"{k.Value} {k.Key}"));
        var isFound = failures.Count == 0 && anomalies.Any(a => Marks(mistake).Contains(a.Kind));
        output.WriteLine(
            $"planted {mistake}: {(isFound ? "found" : "NOT FOUND")} in {transactions.Count} transactions: {kinds}");
        if (isFound) output.WriteLine($"    {anomalies.First(a => Marks(mistake).Contains(a.Kind))}");
        foreach (var failure in failures.Take(MaxTold)) output.WriteLine($"FAILED {failure}");
        return isFound;
    }

    /// <summary>The anomalies by which the mistake must show.</summary>
    private static AnomalyKind[] Marks(PlantedClient mistake) => mistake switch
    {
        PlantedClient.WritesTwice => [AnomalyKind.Duplicate],
        PlantedClient.IgnoresAborts => [AnomalyKind.LostAppend],
        _ => [AnomalyKind.GSingle, AnomalyKind.G2],
    };

    private async Task<ClientPool> StartAsync(
        UndoList undo, ClusterRig rig, string prefix, PlantedClient planted, CancellationToken stop)
    {
        await using (var client = await WorkClient.ConnectAsync(rig.Connection))
        await using (var runtime = new TangoRuntime(client, Options))
        {
            // Once by a client that hosts everything, so that the others find a group.
            await TxObjects.OpenAsync(runtime, prefix, 0, stop);
        }

        var clients = new ClientPool(undo, rig, Clients, seed,
            place =>
            [
                "tx-client", "--place", $"{place}", "--prefix", prefix, "--planted", $"{planted}",
                "--decisions", $"{DecisionsOf(place, _starts[place]++)}",
            ], prefix);
        clients.Start();
        if (!await FaultLoop.WaitAsync(() => clients.AllSince(0), s_patience, stop))
            throw new RunException($"The clients do not start: {clients.Describe()}");
        return clients;
    }

    // A fresh client opens everything from checkpoints, when all others have ended.
    private async Task<(List<TxRecord> Transactions, IReadOnlyList<Anomaly> Anomalies)> JudgeAsync(
        ClusterRig rig, ClientPool clients, string prefix, List<string> failures)
    {
        var transactions = TxHistoryFile.Read(clients.Histories, failures);
        var lists = new Dictionary<string, IReadOnlyList<long>>();
        await using var client = await WorkClient.ConnectAsync(rig.Connection);
        await using var runtime = new TangoRuntime(client, Options);
        var objects = await TxObjects.OpenAsync(runtime, prefix, 0, default);
        for (var i = 0; i < objects.Handles.Count; i++)
        {
            foreach (var (list, values) in await objects.Handles[i].SnapshotAsync())
                lists.Add($"{i}/{list}", [.. values]);
        }

        await File.WriteAllLinesAsync(
            Path.Combine(clients.Folder, ListsFile), lists.Select(l => $"{l.Key} {string.Join(',', l.Value)}"));
        output.WriteLine(
            $"{prefix}: {transactions.Count} transactions: {string.Join(", ", transactions.CountBy(t => t.Fate)
                .OrderByDescending(f => f.Value).Select(f => $"{f.Value} {f.Key}"))}; {lists.Count} lists, "
            + $"{lists.Values.Sum(v => v.Count)} values");
        return (transactions, AppendCheck.Check(transactions, lists));
    }

    private async Task TellTrimsAsync(ClusterRig rig)
    {
        await using var client = await WorkClient.ConnectAsync(rig.Connection);
        await using var runtime = new TangoRuntime(client, Options);
        var released = (await runtime.Log.ReadTrimPointAsync()).Released;
        output.WriteLine($"epoch {client.Projection.Epoch}, tail {(await client.CheckAsync([])).Tail.Offset}, "
            + $"trimmed below {released.Offset}");
    }

    private TransactionDecisions DecisionsOf(int place, int start) => decisions switch
    {
        ClientDecisions.Playback => TransactionDecisions.Playback,
        ClientDecisions.Sequencer => TransactionDecisions.Sequencer,
        _ => (place + start) % 2 == 0 ? TransactionDecisions.Playback : TransactionDecisions.Sequencer,
    };

    // A run in which no sequencer decides shows nothing about its decisions.
    private void CountAsked(ClientPool clients, List<string> failures)
    {
        _asked = 0;
        foreach (var child in clients.All)
        {
            if (child.Last("asked ") is not { } line) continue;
            var words = line.Split(' ');
            _asked += long.Parse(words[1]);
            if (words[3] != "0") failures.Add($"playback finds conflicts in what the sequencer decided: {line}");
        }

        if (_asked > 0 != (decisions != ClientDecisions.Playback))
            failures.Add($"with decisions {decisions} the sequencer let {_asked} transactions commit");
    }

    private static long Committed(ClientPool clients) => clients.All.Sum(
        child => child.Last("committed ") is { } line ? long.Parse(line.Split(' ')[1]) : 0);

    private async Task KeepAsync(UndoList undo, ClientPool clients)
    {
        var kept = Path.Combine(Path.GetTempPath(), $"corfu-transactions-{seed}-failed");
        await Shell.LineAsync(
            $"mkdir -p {kept} && cp -r {clients.Folder} {kept}/ ; for f in {undo.Folder}/cluster/*/*.log; do cp $f "
            + $"{kept}/; done");
        output.WriteLine($"histories and node logs: {kept}");
    }
}
