namespace Tango.ZooKeeper;

/// <summary>Outcome of one applied record: the reply, the events, and the state behind it.</summary>
/// <param name="Zxid">The record's; 0 if the tree cannot number it: then it had no effect.</param>
/// <param name="Caller">Null: the record is no client's request.</param>
/// <param name="Changes">None where the request failed.</param>
public sealed record TreeEffect(
    long Zxid, RequestHeader? Caller, TreeResult Result, ImmutableArray<TreeChange> Changes, TreeRoot Root)
{
    /// <summary>Ticket of a <see cref="SharedRecord"/>; 0: another record.</summary>
    public long Ticket { get; init; }
}
