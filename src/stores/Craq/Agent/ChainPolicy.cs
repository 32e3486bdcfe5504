using Corfu.Detection;
using Craq.Coordination;

namespace Craq.Agent;

/// <summary>An agent's decisions about its node's chains, from the directory and the verdicts on other nodes. Pure:
/// times are since any fixed moment. Any number of agents may decide alike or otherwise; the directory lets one
/// win.</summary>
internal sealed class ChainPolicy(NodeId self, CraqAgentOptions options)
{
    // Since when this agent has seen a node without a lease, a member gone, a chain's epoch.
    private readonly Dictionary<NodeId, TimeSpan> _unregistered = [];
    private readonly Dictionary<NodeId, TimeSpan> _suspected = [];
    private readonly Dictionary<ChainId, (Epoch Epoch, TimeSpan Since)> _epochs = [];

    // When this agent took out a member that it did not reach.
    private readonly Dictionary<ChainId, TimeSpan> _cuts = [];

    // The wishes of chains, from _wishable: each step asks for all of them, and few nodes come or go.
    private readonly Dictionary<ChainId, (Placement Placement, ImmutableArray<ChainMember> Wish)> _wishes = [];
    private ImmutableArray<DirectoryNode> _wishable = [];
    private DirectoryView _view = DirectoryView.Empty;
    private ImmutableArray<ChainConfig> _own = [];

    /// <summary>The chains that have this node.</summary>
    public ImmutableArray<ChainConfig> Own => _own;

    public void Observe(DirectoryView view, TimeSpan now)
    {
        if (ReferenceEquals(view, _view)) return;
        _view = view;
        _own = [.. view.Chains.Values.Where(config => config.IndexOf(self) >= 0)];
        foreach (var (id, node) in view.Nodes)
        {
            if (node.State != DirectoryNodeState.Gone) _unregistered.Remove(id);
            else _unregistered.TryAdd(id, now);
        }

        foreach (var gone in _unregistered.Keys.Where(id => !view.Nodes.ContainsKey(id)).ToArray())
            _unregistered.Remove(gone);
        foreach (var gone in _epochs.Keys.Where(id => !view.Chains.ContainsKey(id)).ToArray()) _epochs.Remove(gone);
        foreach (var gone in _wishes.Keys.Where(id => !view.Chains.ContainsKey(id)).ToArray()) _wishes.Remove(gone);
        foreach (var gone in _cuts.Keys.Where(id => !view.Chains.ContainsKey(id)).ToArray()) _cuts.Remove(gone);
        foreach (var config in _own)
        {
            if (!_epochs.TryGetValue(config.Id, out var known) || known.Epoch != config.Epoch)
                _epochs[config.Id] = (config.Epoch, now);
        }
    }

    /// <summary>The nodes that have chains in common with this one, those behind it first: each node is probed by
    /// several others, however many there are.</summary>
    public ImmutableArray<DirectoryNode> Peers()
    {
        var ids = new SortedSet<NodeId>(_own.SelectMany(config => config.Members).Select(member => member.Node));
        ids.Remove(self);
        return
        [
            .. ids.Where(id => id.CompareTo(self) > 0).Concat(ids.Where(id => id.CompareTo(self) < 0))
                .Where(_view.Nodes.ContainsKey).Take(options.MaxPeers).Select(id => _view.Nodes[id]),
        ];
    }

    /// <summary>The steps that are due.</summary>
    /// <param name="judge">The detector's verdict on another node.</param>
    public List<ChainAction> Decide(TimeSpan now, Func<NodeId, NodeVerdict> judge)
    {
        var actions = new List<ChainAction>();
        if (!_view.Nodes.TryGetValue(self, out var me) || me.State == DirectoryNodeState.Gone) return actions;
        var gone = FindGone(now, judge);
        FindWishable(now);
        foreach (var config in _own)
        {
            if (gone.Count > 0 && Removal(config, gone, now) is { } removal) actions.Add(removal);
            else if (Withdrawal(config, now) is { } withdrawal) actions.Add(withdrawal);
            else if (MayLeave(config)) actions.Add(new ChainAction.Leave(config));
        }

        return actions;
    }

    /// <summary>The step by which a chain goes on although this member does not reach another one, which lives. One of
    /// the two leaves: the other one, if the chain may lose it, else this one (ADR 21).</summary>
    /// <returns>Null: the chain goes on as it is, or can lose neither, or it has lost a member a moment ago.</returns>
    public ChainAction? Cut(ChainConfig config, NodeId node, TimeSpan now)
    {
        // Records pass from each member to its successor, and an epoch opens when its head reaches all members.
        var own = config.IndexOf(self);
        var isNeeded = config.IndexOf(node) == own + 1 || (own == 0 && !config.IsRecordedOpen);
        var since = _epochs.TryGetValue(config.Id, out var known) ? known.Since : now;
        if (!isNeeded || now - since < options.CutAfter) return null;
        if (_cuts.TryGetValue(config.Id, out var at) && now - at < options.CutPause) return null;
        ChainAction? cut = ChainRules.MayLose(config, node) ? Removal(config, node, isCertain: true)
            : ChainRules.MayLose(config, self) ? new ChainAction.Leave(config) : null;
        if (cut is not null) _cuts[config.Id] = now;
        return cut;
    }

    /// <summary>The chains that this node is to learn: repairs first, and few at a time.</summary>
    /// <param name="learning">Chains that it learns already: they are gone on with.</param>
    public ImmutableArray<WantedChain> Wanted(TimeSpan now, IReadOnlyCollection<ChainId> learning)
    {
        if (!_view.Nodes.TryGetValue(self, out var me) || me.State != DirectoryNodeState.Active) return [];
        FindWishable(now);
        var wanted = new List<WantedChain>();
        foreach (var config in _view.Chains.Values)
        {
            if (config.IndexOf(self) >= 0) continue;
            var wish = Wish(config);
            if (wish.Any(member => member.Node == self))
                wanted.Add(new WantedChain(config, config.Members.Length < wish.Length));
        }

        return
        [
            .. wanted.OrderByDescending(chain => learning.Contains(chain.Config.Id))
                .ThenByDescending(chain => chain.IsRepair).ThenBy(chain => chain.Config.Id).Take(options.MaxMoves),
        ];
    }

    /// <summary>The place of this node in a chain, by the order of the wish.</summary>
    public int IndexFor(ChainConfig config, TimeSpan now)
    {
        FindWishable(now);
        var index = 0;
        foreach (var member in Wish(config))
        {
            if (member.Node == self) return index;
            index = Math.Max(index, config.IndexOf(member.Node) + 1);
        }

        return config.Members.Length;
    }

    // A node that restarts is back soon: it stays wished for a while.
    private void FindWishable(TimeSpan now)
    {
        ImmutableArray<DirectoryNode> wishable =
        [
            .. _view.Nodes.Values.Where(node => node.State == DirectoryNodeState.Active
                || (node.State == DirectoryNodeState.Gone
                    && now - _unregistered.GetValueOrDefault(node.Id, now) < options.ReplaceAfter)),
        ];
        if (wishable.AsSpan().SequenceEqual(_wishable.AsSpan())) return;
        _wishable = wishable;
        _wishes.Clear();
    }

    private ImmutableArray<ChainMember> Wish(ChainConfig config)
    {
        if (_wishes.TryGetValue(config.Id, out var known) && ReferenceEquals(known.Placement, config.Placement))
            return known.Wish;
        var wish = PlacementRules.Wish(config.Placement, config.Id, _wishable);
        _wishes[config.Id] = (config.Placement, wish);
        return wish;
    }

    private SortedDictionary<NodeId, bool> FindGone(TimeSpan now, Func<NodeId, NodeVerdict> judge)
    {
        var gone = new SortedDictionary<NodeId, bool>();
        foreach (var id in _own.SelectMany(config => config.Members).Select(member => member.Node).Distinct())
        {
            if (id == self) continue;
            var verdict = judge(id);
            var isUnregistered = _unregistered.TryGetValue(id, out var since)
                && now - since >= options.UnregisteredAfter;
            if (verdict.IsGone || isUnregistered) gone.Add(id, verdict.IsCertain || isUnregistered);
        }

        foreach (var alive in _suspected.Keys.Where(id => !gone.ContainsKey(id)).ToArray()) _suspected.Remove(alive);
        foreach (var id in gone.Keys) _suspected.TryAdd(id, now);
        return gone;
    }

    // Removals go one at a time: the next one waits until this one has an epoch of its own.
    private ChainAction? Removal(ChainConfig config, SortedDictionary<NodeId, bool> gone, TimeSpan now)
    {
        var turn = config.Members.TakeWhile(member => member.Node != self)
            .Count(member => !gone.ContainsKey(member.Node));
        foreach (var member in config.Members)
        {
            if (!gone.TryGetValue(member.Node, out var isCertain)) continue;
            if (now - _suspected[member.Node] < turn * options.Turn) continue;
            if (!isCertain && now - _epochs[config.Id].Since < options.RemovalPause) continue;
            if (!ChainRules.MayLose(config, member.Node)) continue;
            return Removal(config, member.Node, isCertain);
        }

        return null;
    }

    // A member of a leased chain is removed behind the end of its lease (C7).
    private ChainAction Removal(ChainConfig config, NodeId node, bool isCertain)
    {
        var hasLease = _view.Nodes.TryGetValue(node, out var known) && known.State != DirectoryNodeState.Gone;
        return hasLease && config.Options.Reads == EpochProof.Leased
            ? new ChainAction.Evict(config, node, isCertain)
            : new ChainAction.RemoveGone(config, node, isCertain);
    }

    // A learner may be promoted and lack records that no member has in memory any more: nothing brings them, and the
    // epoch would never open (C2, C5). Out of the chain the node learns again. The base stays whole (C8).
    private ChainAction? Withdrawal(ChainConfig config, TimeSpan now)
    {
        var newcomer = config.Newcomer;
        if (newcomer.IsNone || !ChainRules.MayLose(config, newcomer)) return null;
        var limit = options.OpenLimit + (config.IndexOf(self) * options.Turn);
        if (now - _epochs[config.Id].Since < limit) return null;
        if (newcomer == self) return new ChainAction.Leave(config);
        // Removed by its own word alone: it may serve by its lease (C7).
        return config.Options.Reads == EpochProof.Leased ? null : new ChainAction.Withdraw(config, newcomer);
    }

    // Only from a chain that is open and has all others that are wished: never below its size, and one at a time.
    private bool MayLeave(ChainConfig config)
    {
        if (!config.IsRecordedOpen || config.Members.Length == 1 || !ChainRules.MayLose(config, self)) return false;
        var wish = Wish(config);
        return wish.Length > 0 && wish.All(member => member.Node != self && config.IndexOf(member.Node) >= 0);
    }
}
