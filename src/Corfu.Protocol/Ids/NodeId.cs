namespace Corfu.Protocol;

/// <summary>
/// Identity of a unit, an acceptor or a sequencer incarnation (R2). Units and acceptors get theirs when their folder is
/// formatted, a sequencer with each construction of its core. An identity once removed from a projection never returns.
/// </summary>
public readonly record struct NodeId(Guid Value) : IComparable<NodeId>
{
    public static readonly NodeId None;

    public bool IsNone => Value == Guid.Empty;

    public int CompareTo(NodeId other) => Value.CompareTo(other.Value);

    public override string ToString() => Value.ToString("D");
}
