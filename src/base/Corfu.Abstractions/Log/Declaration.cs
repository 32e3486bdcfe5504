namespace Corfu;

/// <summary>Tells the sequencer what an entry reads and writes. The sequencer decides each record that asks for it, as
/// it grants the position. A declaration only narrows: a stream of the entry that no record names counts as written
/// whole, with its unit.</summary>
/// <param name="Records">In the entry's order, at most <see cref="MaxRecords"/>. None: everything is written.</param>
public sealed record Declaration(ImmutableArray<DeclaredRecord> Records)
{
    public const int MaxRecords = 64;

    /// <summary>Scopes of all declarations of one token request.</summary>
    public const int MaxScopes = 4096;

    /// <summary>Tokens of one token request, times its streams: what the sequencer enters for it is bounded, however
    /// little it declares.</summary>
    public const int MaxEntered = 64 << 10;

    /// <summary>Bytes of all declarations of one token request.</summary>
    public const int MaxBytes = 64 << 10;

    /// <summary>Nothing is declared: the entry writes all of its streams.</summary>
    public static Declaration None { get; } = new([]);

    /// <summary>Reads and writes.</summary>
    public int Scopes => Records.Sum(static record => record.Writes.Length + record.Reads.Length);

    /// <summary>Bytes that the declaration takes in a request.</summary>
    public int Size => 1 + Records.Sum(static record => record.Size);

    /// <summary>More than a request may declare.</summary>
    public bool IsTooLarge => Records.Length > MaxRecords || Scopes > MaxScopes || Size > MaxBytes;

    /// <summary>Whether the sequencer is asked for a ruling that may refuse.</summary>
    public bool IsDecided => Records.Any(static record => record.Since is not null);
}

/// <summary>A record of an entry.</summary>
/// <param name="Writes">At least one, each of a stream of the entry.</param>
/// <param name="Since">A tail that the sequencer answered: what the record reads is unchanged below it, to the writer's
/// knowledge. It counts in its own epoch alone. Null: the record is not to be decided.</param>
/// <param name="Reads">Scopes of any streams. None without <paramref name="Since"/>.</param>
public sealed record DeclaredRecord(
    ImmutableArray<CellScope> Writes, LogPosition? Since, ImmutableArray<CellScope> Reads)
{
    // A stream of a write is an index of two bytes, that of a read an id of eight.
    internal int Size => 3 + Writes.Sum(static write => 2 + write.Size)
        + (Since is null ? 0 : 18 + Reads.Sum(static read => 8 + read.Size));
}

/// <summary>The part of one stream that a record reads or writes.</summary>
/// <param name="Cell">A hash of the key of <see cref="ScopeKind.Keyed"/>. Equal cells count as equal keys.</param>
public readonly record struct CellScope(StreamId Stream, ScopeKind Kind, ulong Cell = 0)
{
    internal int Size => Kind == ScopeKind.Keyed ? 9 : 1;
}

/// <summary>How much of a stream. Numbers are part of the wire.</summary>
public enum ScopeKind : byte
{
    /// <summary>Written: nothing, although the entry is in the stream.</summary>
    None = 0,

    /// <summary>All cells.</summary>
    Whole = 1,

    /// <summary>Written: all cells, and an end or a change of the unit to which the stream belongs. Read: the unit
    /// alone.</summary>
    Unit = 2,

    /// <summary>A single cell.</summary>
    Keyed = 3,
}

/// <summary>The sequencer's answer to one declaration.</summary>
/// <param name="IsGranted">At least one record has passed, or none was declared: there is a position.</param>
/// <param name="Refused">In the order of the records. Nothing of a refused record counts as written.</param>
public sealed record Ruling(bool IsGranted, ImmutableArray<Refusal> Refused)
{
    /// <summary>Nothing is refused.</summary>
    public static Ruling Granted { get; } = new(true, []);
}

/// <summary>A record that did not pass.</summary>
/// <param name="Record">Index in the declaration.</param>
/// <param name="Read">The first of its reads that did not pass. None where the tail itself was too old.</param>
/// <param name="Position">Written: of a grant at or above the record's tail that writes what was read; the entry may
/// never come. Too old: the lowest tail that can pass.</param>
public readonly record struct Refusal(int Record, RefusalReason Reason, CellScope Read, LogPosition Position);

/// <summary>Why a record is refused. Numbers are part of the wire.</summary>
public enum RefusalReason : byte
{
    /// <summary>A grant writes what was read.</summary>
    Written = 1,

    /// <summary>The sequencer does not know all that was granted from the record's tail on, or the tail is of another
    /// epoch.</summary>
    TooOld = 2,
}
