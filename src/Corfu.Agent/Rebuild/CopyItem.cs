using Corfu.Protocol;

namespace Corfu.Agent;

/// <summary>What one attempt to copy knows about one position.</summary>
internal sealed class CopyItem(LogPosition position, Chain chain)
{
    public LogPosition Position { get; } = position;

    public Chain Chain { get; } = chain;

    /// <summary>The joining replicas that have nothing there.</summary>
    public List<NodeId> Lacking { get; } = [];

    /// <summary>Joining replicas whose page is damaged already: they get it again.</summary>
    public List<NodeId> Damaged { get; } = [];

    /// <summary>What joining replicas hold already, to be compared.</summary>
    public List<(NodeId Unit, PageResult Page)> Held { get; } = [];

    /// <summary>Joining replicas that were trimmed there before they had anything, and so do not know its streams (R5):
    /// they get the headers.</summary>
    public List<NodeId> Bare { get; } = [];

    public bool NeedsEntry => Lacking.Count > 0 || Damaged.Count > 0 || Bare.Count > 0;

    /// <summary>All that have something to learn of a trim.</summary>
    public IEnumerable<NodeId> Others() => Lacking.Concat(Damaged).Concat(Bare).Concat(Held.Select(h => h.Unit));
}
