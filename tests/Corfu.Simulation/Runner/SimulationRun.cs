using Corfu.Simulation.Cluster;
using Corfu.Simulation.Kernel;
using Corfu.Simulation.Services;
using Corfu.Simulation.Workload;
using Corfu.Simulation.Workload.Coordination;
using Corfu.Simulation.Workload.Log;
using Corfu.Simulation.Workload.Objects;
using Corfu.Simulation.ZooKeeper;

namespace Corfu.Simulation.Runner;

/// <summary>
/// The phases of one seed: boot; work under faults; heal and let everything finish within a bound; audit the log from
/// outside.
/// </summary>
public sealed class SimulationRun
{
    // Virtual time in which a healed cluster must finish what it has begun.
    private const long HealedBound = 120 * TimeSpan.TicksPerSecond;

    // Streams are walked from their start: 1,024 headers that no cache holds take 5 ms (seed 21281).
    private const long AuditTimeout = 50 * TimeSpan.TicksPerMillisecond;

    private const long MostSteps = 3_000_000;

    private readonly SeedPlan _plan;
    private readonly IClientProgram _program;

    public SimulationRun(SeedPlan plan, Action<string>? trace)
    {
        _plan = plan;
        World = new World(plan.Seed) { Trace = trace, SlowScheduling = plan.SlowScheduling };
        Cluster = new SimCluster(World, plan, new ClusterMonitor(World));
        Ledger = new Ledger(plan.Operations);
        Nemesis = new Nemesis(Cluster);
        var workers = new Workers(World, plan);
        _program = plan.Kind switch
        {
            WorkloadKind.Log => new LogProgram(World, plan, Log, Cluster.Monitor, Ledger, workers),
            WorkloadKind.ZooKeeper =>
                new ZooKeeperProgram(World, ZooKeeperPlan.Of(plan.Seed), Cluster, Log, Ledger),
            WorkloadKind.Services => new ServicesProgram(
                World, ServicesPlan.Of(plan.Seed), Cluster, Log, Ledger, workers),
            WorkloadKind.Tango => new TangoProgram(World, plan, Cluster, Ledger, Log, workers),
            _ => new CoordinationProgram(World, plan, Cluster.Monitor, Ledger, workers),
        };
    }

    public World World { get; }

    public SimCluster Cluster { get; }

    public Ledger Ledger { get; }

    public Nemesis Nemesis { get; }

    public LogHistory Log { get; } = new();

    public List<Violation> Violations { get; } = [];

    /// <summary>The checker whose first finding while the cluster runs ends the run; null: none.</summary>
    public string? EndAt { get; init; }

    private bool IsFound => EndAt is not null && Cluster.Monitor.Violations.Any(found => found.Checker == EndAt);

    public void Execute()
    {
        using var disagreements = new DisagreementWatch(Cluster.Monitor);
        Cluster.Boot();
        for (int i = 0; i < _plan.Clients; i++) Cluster.AddClient(i, _program.RunAsync).Start();
        Nemesis.Start();
        Pump.Run(World, () => IsFound || AllFinished(), _plan.FaultsUntil, MostSteps);
        if (IsFound) return;
        Heal();
        if (!Finish("the workload", AllFinished)) return;
        // The audit closes holes, and a call gives up before a unit has found its room again (seed 486).
        if (!Finish("a unit's search for room", () => !Cluster.Units.Exists(u => u.IsFull))) return;
        Audit();
        CountFaults();
    }

    /// <summary>The verdicts of the clients' histories.</summary>
    public IEnumerable<Violation> Verdicts() => _program.Verdicts(isAudited: Log.Final.Count > 0);

    private bool AllFinished() =>
        Ledger.Exhausted && Cluster.Idle && Cluster.Clients.All(c => !c.Running || c.Finished);

    /// <summary>Phase 2: no more faults, everything that is dead comes back, the network is calm.</summary>
    private void Heal()
    {
        World.Note("heal");
        Nemesis.Stop();
        World.SlowScheduling = 0;
        Cluster.Heal();
    }

    private bool Finish(string what, Func<bool> done)
    {
        Pump.Ending ending = Pump.Run(
            World, () => IsFound || done(), World.Now + HealedBound, World.Steps + MostSteps);
        if (IsFound) return false;
        if (ending == Pump.Ending.Done) return true;
        Violations.Add(new(CheckerNames.Liveness,
            $"{what} did not finish though all faults were healed: {ending}, {Stuck()}"));
        return false;
    }

    private string Stuck() =>
        $"{Ledger.Acknowledged} operations done, {(Cluster.Idle ? "cluster at rest" : $"{Cluster.Unrest} in "
        + $"{Cluster.Monitor.Newest}")}, waiting: "
        + string.Join(", ", Cluster.Clients.Where(c => !c.Finished).Select(c => c.Name));

    private void Audit()
    {
        var auditor = new Auditor(World, Cluster, Log, _program.Scanned, Violations);
        SimClientNode node = Cluster.AddClient(_plan.Clients, async n =>
        {
            await _program.AuditAsync(n, async () =>
            {
                await auditor.ScanAsync(n);
                await auditor.CompareTailsAsync(n);
            });

            // A unit verifies its newest pages from memory. Repairs write, so older ones leave it, and the next pass
            // reads those from the disk: at least two, until one has nothing to repair.
            bool clean = !Cluster.Units.Exists(u => u.IsDamaged);
            for (int pass = 1; !clean; pass++) clean = await Cluster.ScrubAsync(n) == 0 && pass > 1;
            await auditor.CompareReplicasAsync(n);
        }, AuditTimeout);
        node.Start();
        if (!Finish("the audit", () => node.Finished)) return;
        foreach (LastAct last in _program.LastActs(node)) Do(last.What, last.Node, last.Act);
    }

    private void Do(string what, SimClientNode client, Func<Task> action)
    {
        bool done = false;
        client.Process!.Start("last", async () =>
        {
            await action();
            done = true;
        });
        Finish(what, () => done);
    }

    private void CountFaults()
    {
        Nemesis.Count(FaultKind.Loss, Cluster.Network.Stats.Lost);
        Nemesis.Count(FaultKind.Duplication, Cluster.Network.Stats.Duplicated);
        Nemesis.Count(FaultKind.LongDelay, Cluster.Network.Stats.Delayed);
        if (_plan.Has(FaultKind.Reordering)) Nemesis.Count(FaultKind.Reordering, Cluster.Network.Stats.Reordered);
        Nemesis.Count(FaultKind.TornWrite, Cluster.Units.Sum(u => u.Disk.TornWrites));
        Nemesis.Count(FaultKind.LostWrite, Cluster.Units.Sum(u => u.Disk.LostWrites));
        Nemesis.Count(FaultKind.SlowFlush, Cluster.Units.Sum(u => u.Disk.SlowFlushes));
        Nemesis.Count(FaultKind.Misread, Cluster.Units.Sum(u => u.Disk.Misreads));
        Nemesis.Count(FaultKind.SlowScheduling, World.DelayedContinuations);
        if (_plan.Has(FaultKind.ClockSkew)) Nemesis.Count(FaultKind.ClockSkew, Cluster.SkewedProcesses);
    }
}
