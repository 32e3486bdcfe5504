namespace Corfu.WebConsole.Reading;

/// <summary>A position of the log, read without the types that wrote it.</summary>
/// <param name="Runtime">The writing runtime's number; zero for an entry that is not Tango's.</param>
public sealed record LogItem(
    LogPosition Position, PageState State, DateTimeOffset? WriterTime, ImmutableArray<StreamId> Streams, int Size,
    ulong Runtime, ImmutableArray<TangoRecord> Records);

/// <summary>A record of Tango, known by its position and its index there.</summary>
public abstract record TangoRecord(int Index);

public sealed record UpdateRecord(int Index, TangoCallRecord Call) : TangoRecord(Index);

/// <param name="IsDecided">The sequencer has decided that it commits.</param>
/// <param name="Snapshot">The reads saw everything below.</param>
/// <param name="Spills">Places of further writes.</param>
public sealed record CommitRecord(
    int Index, bool NeedsDecision, bool IsDecided, long Snapshot, ImmutableArray<ReadPart> Reads,
    ImmutableArray<TangoCallRecord> Writes, ImmutableArray<RecordPlace> Spills) : TangoRecord(Index);

/// <param name="Aborted">Null: the transaction committed.</param>
public sealed record DecisionRecord(int Index, RecordPlace Commit, AbortPart? Aborted) : TangoRecord(Index);

public sealed record SpillRecord(int Index, ImmutableArray<TangoCallRecord> Writes) : TangoRecord(Index);

/// <summary>A record without an effect on state.</summary>
public sealed record OtherRecord(int Index, int Kind) : TangoRecord(Index);

/// <param name="Keys">Null: the call concerns the whole object.</param>
/// <param name="Arguments">A MessagePack array; empty where they are too long to keep.</param>
public sealed record TangoCallRecord(
    ulong Object, int Mutator, ImmutableArray<byte[]>? Keys, ReadOnlyMemory<byte> Arguments, int ArgumentBytes);

/// <param name="Keys">Null: the whole object was read.</param>
public sealed record ReadPart(ulong Object, ImmutableArray<byte[]>? Keys);

public readonly record struct RecordPlace(long Position, int Index) : IComparable<RecordPlace>
{
    public int CompareTo(RecordPlace other)
    {
        var byPosition = Position.CompareTo(other.Position);
        return byPosition != 0 ? byPosition : Index.CompareTo(other.Index);
    }

    public override string ToString() => $"{Position}.{Index}";
}

/// <param name="Reason">As <see cref="Tango.AbortReason"/>.</param>
public sealed record AbortPart(int Reason, ulong Object, byte[]? Key, RecordPlace Winner);
