using System.Collections.Immutable;
using Corfu.Protocol;
using Corfu.Simulation.Kernel;
using Craq;
using Craq.Chains;
using Craq.Coordination;

namespace Corfu.Simulation.Craq;

/// <summary>The directory of a run: the shipped <see cref="ChainRules"/> over one state, as a log would order its
/// changes. Each machine plays it with a delay of its own, and may not reach it.</summary>
/// <remarks>Stands for the shipped <see cref="CraqDirectory"/>, a Tango object, without a cluster of the log in each
/// seed. Keyspaces are in no seed; <c>CraqDirectoryTests</c> judges the object.</remarks>
internal sealed partial class SimDirectory(World world, CraqPlan plan, CraqMonitor monitor)
{
    private readonly SortedDictionary<ChainId, ChainState> _chains = [];
    private readonly SortedDictionary<NodeId, DirectoryNode> _nodes = [];
    private readonly Dictionary<Guid, TransactionDecision> _decisions = [];
    private readonly HashSet<string> _unreachable = [];
    private readonly SimRandom _random = world.Random.Split("directory");
    private long _revision;

    public DirectoryView View { get; private set; } = DirectoryView.Empty;

    /// <summary>Transactions whose parts have not all ended, as far as the log knows.</summary>
    public bool HasDecisions => _decisions.Count > 0;

    /// <summary>An epoch has been recorded open.</summary>
    public Action<ChainTruth> EpochOpened { get; set; } = static _ => { };

    public void Create(string name, Placement placement, ChainOptions options, ImmutableArray<ChainMember> members)
    {
        var id = ChainId.FromName(name);
        var (state, refusal) = ChainRules.Create(id, name, placement, options, members);
        if (state is null) throw new InvalidOperationException($"chain {name}: {refusal}");
        _chains.Add(id, state);
        monitor.Learn(state.Config);
        Publish();
    }

    public void Lose(string machine) => _unreachable.Add(machine);

    public void Restore(string machine) => _unreachable.Remove(machine);

    public void RestoreAll() => _unreachable.Clear();

    public Connection Connect(SimProcess process, string machine, NodeId self) => new(this, process, machine, self);

    private ChangeOutcome Change(ChainId chain, Epoch expected, ChainChange change)
    {
        if (!_chains.TryGetValue(chain, out var state)) return new ChangeOutcome("there is no such chain", null);
        var ruling = ChainRules.Change(state, expected, change,
            _nodes.ToImmutableSortedDictionary(pair => pair.Key, pair => pair.Value));
        if (ruling.Refusal is not null) return new ChangeOutcome(ruling.Refusal, state.Config);
        if (IsForbidden(ruling.State.Config)) return new ChangeOutcome("an operator has a lost disk", state.Config);
        Judge(state.Config, change, ruling.State.Config);
        _chains[chain] = ruling.State;
        monitor.Learn(ruling.State.Config);
        world.Note("config " + ruling.State.Config);
        Publish();
        return new ChangeOutcome(null, ruling.State.Config);
    }

    // C8: between two epochs that are recorded open there are removals alone, and each keeps enough of the base.
    private void Judge(ChainConfig before, ChainChange change, ChainConfig after)
    {
        if (change is not ChainChange.Remove && !before.IsRecordedOpen)
            monitor.Found(CheckerNames.Fence, $"{after} follows an epoch that is not recorded open");
        var kept = before.Base.Count(member => after.IndexOf(member.Node) >= 0);
        if (kept < before.Kept && change is not ChainChange.Remove { Destroyed: true })
            monitor.Found(CheckerNames.Fence, $"{after} keeps {kept} members of the base, and {before.Kept} stay");
        if (change is not ChainChange.Promote promote) return;
        monitor.Mark("learner promoted");
        if (monitor.LogOf(promote.Node).Find(after.Id) is not
            { Standing: ChainStanding.Complete or ChainStanding.Full })
            monitor.Found(CheckerNames.Learn, $"{after} has a member whose disk says that it is not full");
    }

    private void Opened(ChainId chain, Epoch epoch)
    {
        if (!_chains.TryGetValue(chain, out var state) || state.Config.Epoch != epoch || state.Config.IsRecordedOpen)
            return;
        if (!monitor.Truth(chain).IsOpen(epoch))
            monitor.Found(CheckerNames.Fence, $"{state.Config} is recorded open before all its members have begun it");
        monitor.Mark("epoch opened");
        _chains[chain] = ChainRules.Opened(state);
        Publish();
        EpochOpened(monitor.Truth(chain));
    }

    private TransactionOutcome Decide(Guid transaction, TransactionDecision wanted)
    {
        _decisions.TryAdd(transaction, wanted);
        return _decisions[transaction].Outcome;
    }

    private void Publish() => View = new DirectoryView(++_revision,
        _chains.ToImmutableSortedDictionary(pair => pair.Key, pair => pair.Value.Config),
        _nodes.ToImmutableSortedDictionary(pair => pair.Key, pair => pair.Value), DirectoryView.Empty.Keyspaces);

    /// <summary>The port of one process.</summary>
    public sealed class Connection(SimDirectory directory, SimProcess process, string machine, NodeId self)
        : IChainDirectory, INodeRegistry
    {
        private readonly Dictionary<ChainId, Epoch> _released = [];

        // When the newest renewal was sent, and the first revision that has the lease.
        private (long Sent, long Revision)? _lease;

        public DirectoryView View { get; private set; } = DirectoryView.Empty;

        public async ValueTask<DirectoryView> ReadAsync(CancellationToken cancellationToken)
        {
            await HopAsync(cancellationToken);
            var read = directory.View;
            await HopAsync(cancellationToken);
            if (read.Revision > View.Revision) View = read;
            return View;
        }

        public async ValueTask<DirectoryView> WaitAsync(DirectoryView after, CancellationToken cancellationToken)
        {
            while (View.Revision <= after.Revision)
            {
                await Task.Delay(TimeSpan.FromTicks(directory.Follow), process.Time, cancellationToken);
                if (!directory._unreachable.Contains(machine) && directory.View.Revision > View.Revision)
                    View = directory.View;
            }

            return View;
        }

        public ValueTask<ChangeOutcome> TryChangeAsync(
            ChainId chain, Epoch expected, ChainChange change, CancellationToken cancellationToken) =>
            WriteAsync(() => directory.Change(chain, expected, change), cancellationToken);

        public async ValueTask OpenedAsync(ChainId chain, Epoch epoch, CancellationToken cancellationToken) =>
            await WriteAsync(() =>
            {
                directory.Opened(chain, epoch);
                return true;
            }, cancellationToken);

        public ValueTask<TransactionOutcome> DecideAsync(
            Guid transaction, TransactionDecision wanted, CancellationToken cancellationToken) =>
            WriteAsync(() => directory.Decide(transaction, wanted), cancellationToken);

        public ValueTask<IReadOnlyDictionary<Guid, TransactionDecision>> DecisionsAsync(
            CancellationToken cancellationToken) =>
            WriteAsync<IReadOnlyDictionary<Guid, TransactionDecision>>(
                () => directory._decisions.ToImmutableDictionary(), cancellationToken);

        public async ValueTask DropDecisionAsync(Guid transaction, CancellationToken cancellationToken) =>
            await WriteAsync(() => directory._decisions.Remove(transaction), cancellationToken);

        public ValueTask<string?> EvictAsync(NodeId node, CancellationToken cancellationToken) =>
            WriteAsync(() => directory.Evict(node), cancellationToken);

        public ValueTask<bool> ReleaseAsync(ChainConfig config, CancellationToken cancellationToken)
        {
            _released[config.Id] = config.Epoch;
            return WriteAsync(() => directory.Release(config.Id, config.Epoch, self, this), cancellationToken);
        }

        public async ValueTask RenewAsync(DirectoryNode node, CancellationToken cancellationToken)
        {
            var sent = process.Time.GetTimestamp();
            if (await WriteAsync(() => directory.Renew(node, this), cancellationToken) is not { } granted) return;
            var before = _lease is { } held && IsFarFromEnd(held.Sent) && !granted.IsNew ? held.Revision : (long?)null;
            _lease = (sent, before ?? granted.Revision);
        }

        public bool Proves(ChainConfig config)
        {
            var isProven = _lease is { } lease && IsFarFromEnd(lease.Sent)
                && LeaseRule.Covers(lease.Revision, View, config)
                && _released.GetValueOrDefault(config.Id) != config.Epoch;
            if (isProven) directory.MarkProof();
            return isProven;
        }

        // A tenth is left for clocks of unequal rates.
        private bool IsFarFromEnd(long sent) =>
            process.Time.GetElapsedTime(sent).Ticks < directory.LeaseTime / 10 * 9;

        private async ValueTask<T> WriteAsync<T>(Func<T> act, CancellationToken cancellationToken)
        {
            await HopAsync(cancellationToken);
            var result = act();
            await HopAsync(cancellationToken);
            return result;
        }

        // Half of the way there, or back. What was written stays written where its answer is lost.
        private async Task HopAsync(CancellationToken cancellationToken)
        {
            await Task.Delay(TimeSpan.FromTicks(directory._random.Exponential(directory.Latency / 2) + 1), process.Time,
                cancellationToken);
            if (!directory._unreachable.Contains(machine)) return;
            await Task.Delay(TimeSpan.FromTicks(20 * directory.Latency), process.Time, cancellationToken);
            throw new LogUnavailableException($"{machine} does not reach the simulated log.");
        }
    }

    private long Latency => plan.LogLatency;

    private long LeaseTime => plan.LeaseTime;

    private long Follow => plan.Follow;

    private void MarkProof() => monitor.Mark("epoch proven by a lease");
}
