using Corfu.Client;
using Corfu.Simulation.Cluster;
using Corfu.Simulation.Kernel;
using Corfu.Simulation.Workload;
using Tango;
using Tango.Tests;

namespace Corfu.Simulation.Runner;

/// <summary>
/// The phases of one seed: boot; work under faults; heal and let everything finish within a bound; audit the log from
/// outside.
/// </summary>
public sealed partial class SimulationRun
{
    // Virtual time in which a healed cluster must finish what it has begun.
    private const long HealedBound = 120 * TimeSpan.TicksPerSecond;

    // Streams are walked from their start: 1,024 headers that no cache holds take 5 ms (seed 21281).
    private const long AuditTimeout = 50 * TimeSpan.TicksPerMillisecond;

    private const long MostSteps = 3_000_000;

    // A run has some hundred updates.
    private const long CheckpointEvery = 25;

    // Short, so that objects leave and return.
    private static readonly TimeSpan s_remoteStay = TimeSpan.FromMilliseconds(20);

    private readonly SeedPlan _plan;

    public SimulationRun(SeedPlan plan, Action<string>? trace)
    {
        _plan = plan;
        World = new World(plan.Seed) { Trace = trace, SlowScheduling = plan.SlowScheduling };
        Cluster = new SimCluster(World, plan, new ClusterMonitor(World));
        Ledger = new Ledger(plan.Operations);
        Nemesis = new Nemesis(Cluster);
        Transactions = new TxHistory
        {
            MaxSpan = plan.MaxSpan,
            VersionAge = plan.VersionAge,
            TicketKey = TangoClient.GateKey,
            Refuses = static (key, before, value) => key == TangoClient.GateKey && Gate.Refuses(before, value),
        };
    }

    public World World { get; }

    public SimCluster Cluster { get; }

    public Ledger Ledger { get; }

    public Nemesis Nemesis { get; }

    public LogHistory Log { get; } = new();

    public TxHistory Transactions { get; }

    public List<Violation> Violations { get; } = [];

    /// <summary>The checker whose first finding while the cluster runs ends the run; null: none.</summary>
    public string? EndAt { get; init; }

    private bool IsFound => EndAt is not null && Cluster.Monitor.Violations.Any(found => found.Checker == EndAt);

    public void Execute()
    {
        Cluster.Boot();
        var logWork = new LogWorkload(World, _plan, Log, Cluster.Monitor, Ledger);
        var tangoWork = new TangoWorkload(World, _plan, Log, Transactions, Cluster.Monitor, Ledger);
        var coordination = new CoordinationWorkload(_plan, Coordination, Cluster.Monitor, Ledger);
        for (int i = 0; i < _plan.Clients; i++)
        {
            SimClientNode client = Cluster.AddClient(i,
                n => _plan.Kind switch
                {
                    WorkloadKind.Log => WorkAsync(n, logWork),
                    WorkloadKind.Tango => WorkAsync(n, tangoWork),
                    _ => WorkAsync(n, coordination),
                });
            client.Start();
        }

        Nemesis.Start();
        Pump.Run(World, () => IsFound || AllFinished(), _plan.FaultsUntil, MostSteps);
        if (IsFound) return;
        Heal();
        if (!Finish("the workload", AllFinished)) return;
        // The audit closes holes, and a call gives up before a unit has found its room again (seed 486).
        if (!Finish("a unit's search for room", () => !Cluster.Units.Exists(u => u.IsFull))) return;
        Audit(tangoWork, coordination);
        CountFaults();
    }

    private bool AllFinished() =>
        Ledger.Exhausted && Cluster.Idle && Cluster.Clients.All(c => !c.Running || c.Finished);

    private async Task WorkAsync(SimClientNode node, LogWorkload work)
    {
        await Task.WhenAll(Enumerable.Range(0, _plan.Workers).Select(
            worker => work.WorkAsync(node.Number, _plan.ProfileOf(node.Number), node.Log!, node.OpenCursor,
                node.Process!.Time, RandomOf(node, worker))));
    }

    private async Task WorkAsync(SimClientNode node, TangoWorkload work)
    {
        if (_plan.Stumbles) Stumbles.Begin();
        if (await OpenTangoAsync(node, work) is not { } tango) return;
        node.Tango = tango;
        work.Opened(node.Number, tango);
        await work.SampleOpenedAsync(node.Number, tango);
        using var stop = new CancellationTokenSource();
        Task feed = work.ReadFeedAsync(node.Number, tango, RandomOf(node, -2), stop.Token);
        await Task.WhenAll(Enumerable.Range(0, _plan.Workers)
            .Select(
                worker => work.WorkAsync(node.Number, _plan.ProfileOf(node.Number), tango, node.Process!.Time,
                    RandomOf(node, worker))));
        stop.Cancel();
        await feed;
        if (!_plan.IsOld(node.Number)) await PlayForOldClientsAsync(tango, node.Process!.Time);
    }

    /// <summary>R20: an older client waits for decisions about what it cannot read, which newer ones make as they play
    /// on.</summary>
    private async Task PlayForOldClientsAsync(TangoClient tango, TimeProvider time)
    {
        while (Cluster.Clients.Any(c => _plan.IsOld(c.Number) && c.Running && !c.Finished))
        {
            await Task.Delay(TimeSpan.FromMilliseconds(50), time);
            try
            {
                await tango.Runtime.SyncAsync();
            }
            catch (LogUnavailableException)
            {
                Cluster.Monitor.Mark("operation given up");
            }
        }
    }

    /// <returns>Null: what a new client would have to play has been trimmed, and it is told so (R22).</returns>
    private async Task<TangoClient?> OpenTangoAsync(SimClientNode node, TangoWorkload work)
    {
        int hosted = node.Number < _plan.Clients ? node.Number % TangoClient.SoloKeys.Length : -1;

        while (true)
        {
            try
            {
                Func<IStreamCursor> openCursor = _plan.IsOld(node.Number)
                    ? () => new OldCodeCursor(node.OpenCursor(), TangoWorkload.IsNewer)
                    : node.OpenCursor;
                return await TangoClient.OpenAsync(
                    work.Observe(node.Number, node.Log!, node.Process!.Time, RandomOf(node, -1)), openCursor,
                    node.Process!.Time, node.Entropy, hosted, ReadsRemote(node), OptionsOf(node),
                    new SimLogger(World, node.Name));
            }
            catch (Exception e) when (e is TangoInDoubtException || TangoWorkload.IsLogsRefusal(e))
            {
                Cluster.Monitor.Mark("opening was in doubt");
            }
            catch (TangoTrimmedException) when (_plan.TrimsObjects)
            {
                Cluster.Monitor.Mark("opening met a trim");
                // A newer checkpoint stood behind the trim before it was carried out.
                if (!_plan.Checkpoints) return null;
            }
        }
    }

    // Half of the clients read what they do not host. Under trims without checkpoints they would be told that it cannot
    // be opened any more.
    private bool ReadsRemote(SimClientNode node) =>
        ((ulong)node.Number + _plan.Seed) % 2 == 0 && (_plan.Checkpoints || !_plan.TrimsObjects);

    // A record that older code cannot read stops all objects of its entry: in half of the seeds no other's.
    private TangoOptions OptionsOf(SimClientNode node)
    {
        var options = new TangoOptions
        {
            NewLogMaxSpan = _plan.MaxSpan,
            NewLogVersionAge = _plan.VersionAge,
            RemoteStay = s_remoteStay,
            // Idle playback would mend stalls that the run has to find.
            IdlePlayback = null,
            OrphanTimeout = _plan.OrphanTimeout,
            Checkpoints = _plan.Checkpoints
                ? new CheckpointPolicy { Updates = CheckpointEvery, TrimsLog = _plan.TrimsObjects }
                : null,
        };
        bool isAlone = _plan.TwoVersions && _plan.Seed % 2 == 0 && !_plan.IsOld(node.Number);
        return isAlone ? options with { MaxBatchStreams = 1 } : options;
    }

    private SimRandom RandomOf(SimClientNode node, int worker) =>
        World.Random.Split($"work {node.Name} {worker} {node.Process!.Id}");

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

    private void Audit(TangoWorkload tangoWork, CoordinationWorkload coordination)
    {
        var auditor = new Auditor(World, _plan, Cluster, Log, Transactions, Violations);
        SimClientNode node = Cluster.AddClient(_plan.Clients, async n =>
        {
            if (_plan.Kind == WorkloadKind.Coordination) await AuditAsync(n, coordination);
            await auditor.ScanAsync(n);
            await auditor.CompareTailsAsync(n);
            if (_plan.Kind == WorkloadKind.Log) await auditor.WalkStreamsAsync(n);
            else if (_plan.Kind == WorkloadKind.Tango && await OpenTangoAsync(n, tangoWork) is { } tango)
            {
                n.Tango = tango;
                tangoWork.Opened(n.Number, tango);
                await tangoWork.FinalReadAsync(n.Number, tango);
            }

            // A unit verifies its newest pages from memory. Repairs write, so older ones leave it, and the next pass
            // reads those from the disk: at least two, until one has nothing to repair.
            bool clean = !Cluster.Units.Exists(u => u.IsDamaged);
            for (int pass = 1; !clean; pass++) clean = await Cluster.ScrubAsync(n) == 0 && pass > 1;
            await auditor.CompareReplicasAsync(n);
        }, AuditTimeout);
        node.Start();
        if (!Finish("the audit", () => node.Finished) || _plan.Kind != WorkloadKind.Tango) return;
        foreach (SimClientNode client in Cluster.Clients.Where(c => c != node && c.Tango is not null))
        {
            Do($"the last reads of {client.Name}", client,
                () => tangoWork.FinalReadAsync(client.Number, client.Tango!));
        }

        if (node.Tango is { } last)
            Do("the last trims", node, () => tangoWork.TrimAllAsync(last, node.Log!));
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
