using Craq.Coordination;
using Craq.Tests.Coordination;

namespace Craq.Tests.Chains;

/// <summary>The directory that all nodes of a test share: the shipped rules, without a log.</summary>
internal sealed class TestDirectory(TimeProvider time, ImmutableSortedDictionary<NodeId, DirectoryNode> nodes)
{
    private readonly SortedDictionary<ChainId, ChainState> _chains = [];
    private readonly Dictionary<Guid, TransactionDecision> _decisions = [];
    private ImmutableSortedSet<ChainId> _dropped = [];
    private long _revision;

    /// <summary>Outcomes of transactions that are not dropped.</summary>
    public IReadOnlyDictionary<Guid, TransactionDecision> Decisions => _decisions;

    public DirectoryView View { get; private set; } = DirectoryView.Empty with { Nodes = nodes };

    public ChainState this[ChainId chain] => _chains[chain];

    /// <summary>A node's access; closed, the node cannot reach the log.</summary>
    public Access For() => new(this);

    public ChainConfig Create(ChainId id, Placement placement, ChainOptions options, params ReadOnlySpan<int> members)
    {
        var full = Samples.Ids(members).Select(node => new ChainMember(node, nodes[node].Datacenter));
        var (state, refusal) = ChainRules.Create(id, "chain", placement, options, [.. full]);
        Assert.Null(refusal);
        Set(state!);
        return state!.Config;
    }

    public ChainConfig Change(ChainId chain, ChainChange change)
    {
        Set(_chains[chain].Must(change, nodes));
        return _chains[chain].Config;
    }

    public void Drop(ChainId chain)
    {
        _chains.Remove(chain);
        _dropped = _dropped.Add(chain);
        Publish();
    }

    public void SetState(int node, DirectoryNodeState state)
    {
        var id = Samples.Id(node);
        nodes = nodes.SetItem(id, nodes[id] with { State = state });
        Publish();
    }

    private void Set(ChainState state)
    {
        _chains[state.Config.Id] = state;
        Publish();
    }

    private void Publish()
    {
        View = new DirectoryView(++_revision, _chains.ToImmutableSortedDictionary(chain => chain.Key,
            chain => chain.Value.Config), nodes, DirectoryView.Empty.Keyspaces)
        {
            Dropped = _dropped,
        };
    }

    internal sealed class Access(TestDirectory directory) : IChainDirectory
    {
        /// <summary>The node cannot reach the log.</summary>
        public bool IsCut { get; set; }

        /// <summary>The lease of the node; null: it has none.</summary>
        public Func<ChainConfig, bool>? Lease { get; set; }

        /// <summary>Empty until the log has answered a node that started without it.</summary>
        public DirectoryView View { get; set; } = directory.View;

        public bool Proves(ChainConfig config) => Lease?.Invoke(config) ?? false;

        /// <summary>Answers with decisions wait for it; the decisions are made.</summary>
        public Func<Task>? Decided { get; set; }

        /// <summary>A decision's drop waits for it, and is made behind it.</summary>
        public Func<Task>? Dropping { get; set; }

        /// <summary>The report of an open epoch waits for it.</summary>
        public Func<Task>? Opening { get; set; }

        public async ValueTask<DirectoryView> ReadAsync(CancellationToken cancellationToken)
        {
            await ReachAsync();
            return directory.View;
        }

        public async ValueTask<DirectoryView> WaitAsync(DirectoryView after, CancellationToken cancellationToken)
        {
            while (true)
            {
                if (!IsCut && directory.View.Revision > after.Revision) return View = directory.View;
                await Task.Delay(TimeSpan.FromMilliseconds(20), directory.Time, cancellationToken);
            }
        }

        public async ValueTask<ChangeOutcome> TryChangeAsync(ChainId chain, Epoch expected, ChainChange change,
            CancellationToken cancellationToken)
        {
            await ReachAsync();
            var ruling = ChainRules.Change(directory._chains[chain], expected, change, directory.View.Nodes);
            if (ruling.Refusal is null) directory.Set(ruling.State);
            return new ChangeOutcome(ruling.Refusal, ruling.State.Config);
        }

        public async ValueTask OpenedAsync(ChainId chain, Epoch epoch, CancellationToken cancellationToken)
        {
            if (Opening is { } opening) await opening();
            await ReachAsync();
            var state = directory._chains[chain];
            if (state.Config.Epoch == epoch && !state.Config.IsRecordedOpen) directory.Set(ChainRules.Opened(state));
        }

        public async ValueTask<TransactionOutcome> DecideAsync(Guid transaction, TransactionDecision wanted,
            CancellationToken cancellationToken)
        {
            await ReachAsync();
            directory._decisions.TryAdd(transaction, wanted);
            var outcome = directory._decisions[transaction].Outcome;
            if (Decided is { } decided) await decided();
            return outcome;
        }

        public async ValueTask<IReadOnlyDictionary<Guid, TransactionDecision>> DecisionsAsync(
            CancellationToken cancellationToken)
        {
            await ReachAsync();
            return directory._decisions.ToImmutableDictionary();
        }

        public async ValueTask DropDecisionAsync(Guid transaction, CancellationToken cancellationToken)
        {
            if (Dropping is { } dropping) await dropping();
            await ReachAsync();
            directory._decisions.Remove(transaction);
        }

        private async Task ReachAsync()
        {
            await Task.Yield();
            if (IsCut) throw new CorfuException("The log cannot be reached.");
        }
    }

    private TimeProvider Time => time;
}
