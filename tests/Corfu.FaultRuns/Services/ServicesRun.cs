using Corfu.FaultRuns.Faults;
using Corfu.FaultRuns.Machine;
using Corfu.FaultRuns.Nodes;
using Corfu.FaultRuns.Services.Judging;
using Corfu.Hosting;

namespace Corfu.FaultRuns.Services;

/// <summary>Processes that share a key-value store, ledgers and a state machine over a log of processes, all of them
/// under faults; then a fresh process reads everything, and the histories are judged.</summary>
internal sealed class ServicesRun(int seed, TimeSpan length, IReadOnlyList<FaultKind> only, TextWriter output)
{
    private const int Clients = 3;
    private const int MaxTold = 10;

    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(90);
    private static readonly TimeSpan s_auditPatience = TimeSpan.FromMinutes(5);

    // Signals need no privileges. Faults of networks and disks belong to the fault run.
    private static readonly Tools s_tools = new(false, false, false, []);

    private readonly Random _random = new(seed);

    public async Task<int> RunAsync(CancellationToken stop)
    {
        var undo = UndoList.New();
        try
        {
            output.WriteLine($"services: seed {seed}, {length.TotalSeconds:0} s, data in {undo.Folder}");
            var shape = new ClusterShape { Units = 3, Replicas = 2, Spares = 2, Sequencers = 2, Automatic = true };
            var rig = new ClusterRig(undo, s_tools, shape, 0);
            await rig.CreateAsync(0, _ => false);
            if (await rig.UpAsync() is { } trouble) throw new RunException(trouble);
            var clients = new ClientPool(undo, rig, Clients, seed, static _ => ["services-client"]);
            clients.Start();
            if (!await FaultLoop.WaitAsync(() => clients.AllSince(0), s_patience, stop))
                throw new RunException($"The clients do not start: {clients.Describe()}");
            var nemesis = new Nemesis(rig, clients, s_tools, _random);
            var loop = new FaultLoop(
                rig, clients, nemesis, only.Count > 0 ? only : nemesis.Kinds, _random, output);
            await loop.RunAsync(() => loop.Elapsed >= length, stop);
            return await JudgeAsync(undo, rig, clients, loop);
        }
        finally
        {
            undo.Run();
        }
    }

    private async Task<int> JudgeAsync(UndoList undo, ClusterRig rig, ClientPool clients, FaultLoop loop)
    {
        var failures = loop.Failures.ToList();
        if (await clients.StopAsync(s_patience) is { } hangs) failures.Add(hangs);
        using var late = new CancellationTokenSource(s_auditPatience);
        var audit = await ServicesAudit.TakeAsync(rig.Connection, late.Token);
        var history = ServicesHistory.Read(clients.Histories);
        failures.AddRange(history.Unexpected);
        if (loop.Count == 0) failures.Add("no fault has come");
        var verdict = ServicesVerdict.Of(history, audit);
        output.WriteLine();
        loop.Tell();
        output.WriteLine($"{audit.Changes.Count} revisions, {audit.Ledgers.Count} ledgers with "
            + $"{audit.Ledgers.Values.Sum(static values => values.Count)} entries, "
            + $"{audit.Users.Values.Sum(static user => user.Count)} commands of {audit.Users.Count} users");
        foreach (var line in verdict.Told(MaxTold)) output.WriteLine($"VIOLATION {line}");
        foreach (var failure in failures.Take(MaxTold)) output.WriteLine($"FAILED {failure}");
        var isGood = verdict.IsGood && failures.Count == 0;
        if (!isGood) await KeepAsync(undo, clients);
        output.WriteLine($"services {verdict}");
        return isGood ? 0 : 1;
    }

    private async Task KeepAsync(UndoList undo, ClientPool clients)
    {
        var kept = Path.Combine(Path.GetTempPath(), $"corfu-services-{seed}-failed");
        await Shell.LineAsync(
            $"mkdir -p {kept} && cp -r {clients.Folder} {kept}/ ; for f in {undo.Folder}/cluster/*/*.log; do cp $f "
            + $"{kept}/; done");
        output.WriteLine($"histories and node logs: {kept}");
    }
}
