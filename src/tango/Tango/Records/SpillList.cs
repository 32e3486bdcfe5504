using System.Collections.Immutable;

namespace Tango.Records;

/// <summary>R19: where the writes of a transaction above one entry stand, in their order.</summary>
internal sealed record SpillList(ImmutableArray<SpillReference> References)
{
    public static SpillList Empty { get; } = new([]);

    public bool IsEmpty => References.IsEmpty;

    /// <summary>
    /// R19: forgotten history ends MaxSpan below a checkpoint: a record further than that from its first spill
    /// may find it trimmed. It aborts, at every runtime alike: the positions alone decide.
    /// </summary>
    /// <returns>Null: the spills are near enough.</returns>
    public TxOutcome.Aborted? AbortAt(RecordVersion commit, long maxSpan)
    {
        if (References.IsEmpty) return null;
        var first = References.MinBy(static spill => spill.Version)!;
        if (commit.Position.Offset - first.Version.Position.Offset <= maxSpan) return null;
        var id = first.Objects.FirstOrDefault();
        return new TxOutcome.Aborted(AbortReason.SpilledTooEarly, id, id.ToString(), ObjectKey.None, first.Version);
    }
}

/// <param name="Objects">Objects that the writes concern: other hosts need not fetch the spill.</param>
internal sealed record SpillReference(RecordVersion Version, ImmutableArray<ObjectId> Objects);
