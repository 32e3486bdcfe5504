using Corfu.Simulation.Kernel;
using Corfu.Simulation.Kernel.Seeds;
using Corfu.Simulation.Runner;
using Corfu.Simulation.Workload;
using Salus;

namespace Corfu.Simulation.Salus;

/// <summary>The phases of one seed of the block store: boot; work under faults; heal and finish within a bound; read
/// everything once more.</summary>
internal sealed class SalusRun
{
    /// <summary>Name of this kind of run.</summary>
    public const string Kind = "salus";

    private const long HealedBound = 60 * TimeSpan.TicksPerSecond;
    private const long MostSteps = 3_000_000;

    private readonly SalusPlan _plan;
    private readonly SalusCluster _cluster;
    private readonly SalusNemesis _nemesis;
    private readonly SalusWorkload _workload;
    private readonly SalusHistory _history;
    private readonly Ledger _ledger;
    private readonly List<Violation> _violations = [];
    private readonly string? _endAt;

    private SalusRun(SalusPlan plan, Action<string>? trace, string? endAt)
    {
        _plan = plan;
        _endAt = endAt;
        World = new World(plan.Seed) { Trace = trace, SlowScheduling = plan.SlowScheduling };
        _cluster = new SalusCluster(World, plan);
        _ledger = new Ledger(plan.Operations);
        _history = new SalusHistory(World, _ledger);
        _workload = new SalusWorkload(_cluster, _history, _ledger);
        _nemesis = new SalusNemesis(_cluster, _history);
    }

    private World World { get; }

    private bool IsFound => _endAt is not null && _cluster.Monitor.Violations.Any(found => found.Checker == _endAt);

    /// <param name="endAt">The run may end where this checker fires; null: never.</param>
    public static SeedResult Run(ulong seed, Action<string>? trace, string? endAt = null) =>
        Run(SalusPlan.Of(seed), trace, endAt);

    public static SeedResult Run(SalusPlan plan, Action<string>? trace, string? endAt = null)
    {
        var run = new SalusRun(plan, trace, endAt);
        run.Execute();
        return run.Result();
    }

    private void Execute()
    {
        _cluster.Boot();
        for (var i = 0; i < _plan.Writers * _plan.Volumes; i++)
            _cluster.AddWriter(i % _plan.Volumes, _workload.RunAsync);
        foreach (var writer in _cluster.Writers) writer.Start();
        _nemesis.Start();
        Pump.Run(World, () => IsFound || AllFinished(), World.Now + _plan.FaultsUntil, MostSteps);
        if (IsFound) return;
        World.Note("heal");
        _nemesis.Stop();
        World.SlowScheduling = 0;
        _cluster.Heal();
        if (!Finish("the workload", AllFinished)) return;
        for (var i = 0; i < _plan.Volumes; i++) _cluster.AddWriter(i, _workload.AuditAsync);
        var audits = _cluster.Writers.TakeLast(_plan.Volumes).ToList();
        foreach (var audit in audits) audit.Start();
        if (!Finish("the audit", () => audits.TrueForAll(audit => audit.Finished))) return;
        _cluster.Monitor.Look();
        CountFaults();
    }

    private SeedResult Result()
    {
        var monitor = _cluster.Monitor;
        List<Violation> violations = [.. monitor.Violations, .. _violations];
        foreach (var history in _history.Complete((int)_plan.Geometry.Blocks))
            violations.AddRange(VolumeCheck.Check(history));
        violations.AddRange(World.Failures.Select(failure => new Violation(CheckerNames.Unhandled, failure)));
        if (violations.Count == 0 && _ledger.Acknowledged < SeedRunner.FewestOperations)
            violations.Add(new(CheckerNames.Live, $"only {_ledger.Acknowledged} operations were acknowledged"));
        return new SeedResult
        {
            Seed = _plan.Seed,
            Hash = World.Hash.Value,
            Operations = _ledger.Acknowledged,
            Steps = World.Steps,
            VirtualSeconds = World.Now / (double)TimeSpan.TicksPerSecond,
            Violations = violations,
            Marks = monitor.Marks,
            Faults = _nemesis.Counts,
            Enabled = [.. _plan.Faults.Select(fault => $"{fault}")],
        };
    }

    private bool AllFinished() =>
        _ledger.Exhausted && _cluster.Writers.TrueForAll(writer => !writer.Running || writer.Finished);

    private bool Finish(string what, Func<bool> done)
    {
        var ending = Pump.Run(World, () => IsFound || done(), World.Now + HealedBound, World.Steps + MostSteps);
        if (IsFound) return false;
        if (ending == Pump.Ending.Done) return true;
        _violations.Add(new(CheckerNames.Live,
            $"{what} did not finish though all faults were healed: {ending}, {_ledger.Acknowledged} operations done, "
            + $"waiting: {string.Join(", ", _cluster.Writers.Where(writer => !writer.Finished).Select(w => w.Name))}; "
            + string.Join("; ", _cluster.Volumes.Select(volume => Show(volume.Id)))));
        return false;
    }

    private string Show(global::Salus.Protocol.VolumeId volume)
    {
        var state = _cluster.Truth.StateOf(volume);
        return $"run {state.Head.Run} {state.Head.Phase} {state.Head.Shortfall} regions ["
            + string.Join(" ", state.Regions.Select(region => $"{region.Key}: {region.Value.Current.Number} "
                + (region.Value.Current.Opening is null ? "recovering" : "opened")
                + (region.Value.Current.IsAdmitted ? "" : ", not admitted"))) + "]";
    }

    private void CountFaults()
    {
        var stats = _cluster.Network.Stats;
        _nemesis.Count(SalusFault.Loss, stats.Lost);
        _nemesis.Count(SalusFault.Duplication, stats.Duplicated);
        _nemesis.Count(SalusFault.LongDelay, stats.Delayed);
        if (_plan.Has(SalusFault.Reordering)) _nemesis.Count(SalusFault.Reordering, stats.Reordered);
        _nemesis.Count(SalusFault.TornWrite, _cluster.Machines.Sum(machine => machine.Disk.TornWrites));
        _nemesis.Count(SalusFault.LostWrite, _cluster.Machines.Sum(machine => machine.Disk.LostWrites));
        _nemesis.Count(SalusFault.SlowFlush, _cluster.Machines.Sum(machine => machine.Disk.SlowFlushes));
        _nemesis.Count(SalusFault.Misread, _cluster.Machines.Sum(machine => machine.Disk.Misreads));
        _nemesis.Count(SalusFault.SlowScheduling, World.DelayedContinuations);
        if (_plan.Has(SalusFault.ClockSkew)) _nemesis.Count(SalusFault.ClockSkew, _plan.Machines);
    }
}
