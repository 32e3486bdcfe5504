namespace Craq.Calls;

/// <summary>The way to the members of a chain in one epoch. Immutable but for the turn of its replicas.</summary>
internal sealed class ChainRoute
{
    // In the order of the chain.
    private readonly ImmutableArray<NodeLink> _members;

    // The members in the client's datacenter; all, if there is none of them.
    private readonly ImmutableArray<int> _near;

    private int _turn;

    public ChainRoute(ChainView view, NodeBook nodes, string? datacenter, int turn)
    {
        View = view;
        var members = view.Config.Members;
        _members = [.. Enumerable.Range(0, members.Length).Select(i => nodes.Of(view.Address(i)))];
        ImmutableArray<int> all = [.. Enumerable.Range(0, members.Length)];
        ImmutableArray<int> near = [.. all.Where(i => members[i].Datacenter == datacenter)];
        _near = near.IsEmpty ? all : near;
        _turn = turn;
    }

    public ChainView View { get; }

    public Epoch Epoch => View.Config.Epoch;

    public ImmutableArray<NodeLink> Members => _members;

    public NodeLink Head => _members[0];

    public NodeLink Tail => _members[^1];

    /// <summary>Whether the tail alone answers reads.</summary>
    public bool IsTailOnly => View.Config.Options.Protocol == ChainProtocol.Cr;

    /// <summary>The replica for the next read: in turn, near ones first, and silent ones last.</summary>
    /// <param name="tried">A bit for each member that has had its chance.</param>
    /// <returns>-1: all have had it.</returns>
    public int NextReplica(ulong tried)
    {
        if (IsTailOnly) return IsIn(tried, _members.Length - 1) ? -1 : _members.Length - 1;
        var turn = (uint)Interlocked.Increment(ref _turn);
        var first = _near[(int)(turn % (uint)_near.Length)];
        if (!IsIn(tried, first) && !_members[first].IsAvoided) return first;
        var (best, bestRank) = (-1, int.MaxValue);
        for (var i = 0; i < _members.Length; i++)
        {
            var at = (int)((turn + (uint)i) % (uint)_members.Length);
            if (IsIn(tried, at)) continue;
            var rank = (_members[at].IsAvoided ? 2 : 0) + (_near.Contains(at) ? 0 : 1);
            if (rank < bestRank) (best, bestRank) = (at, rank);
        }

        return best;
    }

    private static bool IsIn(ulong tried, int member) => (tried & (1UL << member)) != 0;
}
