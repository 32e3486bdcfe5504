using Corfu.Simulation.Kernel;
using Corfu.Simulation.Kernel.Seeds;
using Corfu.Simulation.Runner;
using Corfu.Simulation.Workload;
using Craq;
using Craq.Protocol;

namespace Corfu.Simulation.Craq;

/// <summary>The phases of one seed of the object store: boot; work under faults; heal and finish within a bound; read
/// everything once more, and compare the members.</summary>
internal sealed class CraqRun
{
    /// <summary>Name of this kind of run.</summary>
    public const string Kind = "craq";

    private const long HealedBound = 120 * TimeSpan.TicksPerSecond;
    private const long MostSteps = 3_000_000;

    private readonly CraqPlan _plan;
    private readonly CraqCluster _cluster;
    private readonly CraqNemesis _nemesis;
    private readonly CraqWorkload _workload;
    private readonly CraqHistory _history;
    private readonly Ledger _ledger;
    private readonly List<Violation> _violations = [];
    private readonly string? _endAt;

    private CraqRun(CraqPlan plan, Action<string>? trace, string? endAt)
    {
        _plan = plan;
        _endAt = endAt;
        World = new World(plan.Seed) { Trace = trace, SlowScheduling = plan.SlowScheduling };
        _cluster = new CraqCluster(World, plan);
        _ledger = new Ledger(plan.Operations);
        _history = new CraqHistory(World, _ledger);
        _workload = new CraqWorkload(_cluster, _history, _ledger);
        _nemesis = new CraqNemesis(_cluster);
    }

    private World World { get; }

    private bool IsFound => _endAt is not null && _cluster.Monitor.Violations.Any(found => found.Checker == _endAt);

    /// <param name="endAt">The run may end where this checker fires; null: never.</param>
    public static SeedResult Run(ulong seed, Action<string>? trace, string? endAt = null) =>
        Run(CraqPlan.Of(seed), trace, endAt);

    public static SeedResult Run(CraqPlan plan, Action<string>? trace, string? endAt = null)
    {
        var run = new CraqRun(plan, trace, endAt);
        run.Execute();
        return run.Result();
    }

    private void Execute()
    {
        if (_cluster.Boot() is { } stuck)
        {
            _violations.Add(new(CheckerNames.Liveness, $"{stuck} though there were no faults"));
            return;
        }

        for (var i = 0; i < _plan.Clients; i++) _cluster.AddClient(_workload.RunAsync);
        foreach (var client in _cluster.Clients) client.Start();
        _nemesis.Start();
        Pump.Run(World, () => IsFound || AllFinished(), _plan.FaultsUntil, MostSteps);
        if (IsFound) return;
        World.Note("heal");
        _nemesis.Stop();
        World.SlowScheduling = 0;
        _cluster.Heal();
        if (!Finish("the workload", AllFinished)) return;
        _cluster.AddClient(_workload.AuditAsync);
        var audit = _cluster.Clients[^1];
        audit.Start();
        if (!Finish("the audit", () => audit.Finished)) return;
        if (!Finish("the members' marks", AllEqual)) return;
        if (!CompareMembers()) return;
        _cluster.Monitor.JudgeTransactions();
        CountFaults();
    }

    private SeedResult Result()
    {
        var monitor = _cluster.Monitor;
        List<Violation> violations = [.. monitor.Violations, .. _violations, .. Verdicts()];
        violations.AddRange(World.Failures.Select(failure => new Violation(CheckerNames.Unhandled, failure)));
        if (violations.Count == 0 && _ledger.Acknowledged < SeedRunner.FewestOperations)
            violations.Add(new(CheckerNames.Liveness, $"only {_ledger.Acknowledged} operations were acknowledged"));
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

    private IEnumerable<Violation> Verdicts()
    {
        var applied = _cluster.Monitor.Applied();
        var history = _history.Complete();
        var resolved = history.Resolved(applied);
        var facts = _cluster.Monitor.Facts();
        return
        [
            .. ObjectLinear.Check(resolved), .. SessionCheck.Check(history), .. BoundedCheck.Check(history, facts),
            .. OnceCheck.Check(history, applied,
                chain => (1, _cluster.Monitor.Truth(ChainId.FromName(chain)).Committed.Value)),
            .. TransactCheck.Check(resolved),
        ];
    }

    private bool AllFinished() =>
        _ledger.Exhausted && _cluster.Clients.TrueForAll(client => !client.Running || client.Finished);

    private bool Finish(string what, Func<bool> done)
    {
        var ending = Pump.Run(World, () => IsFound || done(), World.Now + HealedBound, World.Steps + MostSteps);
        if (IsFound) return false;
        if (ending == Pump.Ending.Done) return true;
        var waiting = _cluster.Clients.Where(client => !client.Finished).Select(client => client.Name);
        _violations.Add(new(CheckerNames.Liveness,
            $"{what} did not finish though all faults were healed: {ending}, {_ledger.Acknowledged} operations done, "
            + $"waiting: {string.Join(", ", waiting)}; {string.Join("; ", _cluster.Monitor.Chains.Select(Show))}"));
        return false;
    }

    private string Show(ChainTruth chain) => $"{chain.Newest} "
        + (chain.IsOpen(chain.Newest!.Epoch) ? "open" : "not open") + $" committed {chain.Committed} last ["
        + string.Join(",", chain.Newest.Members.Select(member => LogOf(member, chain)?.Last)) + "]";

    private NodeChain? LogOf(ChainMember member, ChainTruth chain) =>
        _cluster.Monitor.LogOf(member.Node).Find(chain.Id);

    // Healed, every chain is open and its members are equal, agents have brought it to its size, and no transaction
    // holds keys or has a decision left in the log.
    private bool AllEqual() => _cluster.Monitor.Chains.All(chain => chain.Newest is { } newest
        && chain.IsOpen(newest.Epoch) && (!_plan.HasAgents || newest.Members.Length == _plan.Length)
        && newest.Members.All(member => LogOf(member, chain) is { } log && log.Last == chain.Committed
            && log.Mark == chain.Committed)) && !_cluster.Monitor.HoldsLocks && !_cluster.Truth.HasDecisions;

    // The members' disks hold the same objects, and these are the chain's.
    private bool CompareMembers()
    {
        var open = 0;
        foreach (var chain in _cluster.Monitor.Chains)
        {
            foreach (var node in _cluster.Nodes.Where(node => chain.Newest!.IndexOf(node.Id) >= 0))
            {
                open++;
                node.Process!.Start("compare", async () =>
                {
                    await node.CompareValuesAsync(chain);
                    open--;
                });
            }
        }

        return Finish("the comparison of the members", () => open == 0);
    }

    private void CountFaults()
    {
        var stats = _cluster.Network.Stats;
        _nemesis.Count(CraqFault.Loss, stats.Lost);
        _nemesis.Count(CraqFault.Duplication, stats.Duplicated);
        _nemesis.Count(CraqFault.LongDelay, stats.Delayed);
        _nemesis.Count(CraqFault.LostRelay, stats.LostRequests);
        if (_plan.Has(CraqFault.Reordering)) _nemesis.Count(CraqFault.Reordering, stats.Reordered);
        _nemesis.Count(CraqFault.TornWrite, _cluster.Nodes.Sum(node => node.Disk.TornWrites));
        _nemesis.Count(CraqFault.LostWrite, _cluster.Nodes.Sum(node => node.Disk.LostWrites));
        _nemesis.Count(CraqFault.SlowFlush, _cluster.Nodes.Sum(node => node.Disk.SlowFlushes));
        _nemesis.Count(CraqFault.SlowScheduling, World.DelayedContinuations);
        if (_plan.Has(CraqFault.LateCopies))
            _nemesis.Count(CraqFault.LateCopies, _cluster.Monitor.Marks.GetValueOrDefault("copies under way"));
        if (_plan.Has(CraqFault.WildRequests))
            _nemesis.Count(CraqFault.WildRequests, _cluster.Monitor.Marks.GetValueOrDefault("write repeated"));
    }
}
