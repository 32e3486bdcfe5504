namespace Corfu.Unit;

/// <summary>A fact in a unit's log, the only truth about the unit (R3). The core appends records; the recovery scan
/// hands them back.</summary>
/// <param name="Position">The page's position, the new trim mark or an epoch's start, by kind; carries the record's
/// epoch.</param>
/// <param name="Body">An encoded entry, a tombstone or a state snapshot. The store copies it.</param>
/// <param name="CheckedLength">How much of the body the record's own check covers. For a page only the entry's headers:
/// the payload has its own check, so that damage there makes one page corrupt and not the log unreadable.</param>
internal readonly record struct LogRecord(RecordKind Kind, LogPosition Position, ReadOnlyMemory<byte> Body,
    int CheckedLength)
{
    public LogRecord(RecordKind kind, LogPosition position, ReadOnlyMemory<byte> body = default)
        : this(kind, position, body, body.Length)
    {
    }
}

/// <summary>The kind of a record of a unit's log. Numbers are part of the format.</summary>
internal enum RecordKind : byte
{
    /// <summary>First record of each run of the unit: a higher incarnation of the log begins.</summary>
    Open = 1,

    /// <summary>A data entry at its position.</summary>
    Page = 2,

    /// <summary>A junk entry at its position.</summary>
    Junk = 3,

    /// <summary>A single position is released; the body is the tombstone brought along, if any (R5).</summary>
    Trim = 4,

    /// <summary>Everything below the position released; the only record that moves the trim mark (R5).</summary>
    TrimPrefix = 5,

    /// <summary>Epochs below the record's are refused from here on.</summary>
    Seal = 6,

    /// <summary>The record's epoch is served from here on; the position is that epoch's start (R14).</summary>
    Install = 7,

    /// <summary>The state that records in a deleted part of the log had established, besides pages
    /// (<see cref="UnitState"/>).</summary>
    State = 8,

    /// <summary>The newest positions of some streams, whose entries stood in a deleted part of the log.</summary>
    StreamTails = 9,

    /// <summary>A page or junk entry once more: moved out of a part that is deleted, or repaired. Counts only where the
    /// position is live then (R5).</summary>
    Moved = 16,

    /// <summary>Which parts in the middle of the log were deleted (<see cref="LogGaps"/>).</summary>
    Freed = 17,
}

/// <summary>A record's place in its log.</summary>
/// <param name="BodyAddress">Address of the first byte of the body: a page slot remembers it.</param>
/// <param name="Lsn">The record's end, aligned: it is durable once the store is durable up to here.</param>
/// <param name="PayloadIntact">False for a page whose payload or headers are damaged.</param>
internal readonly record struct RecordPlace(long BodyAddress, long Lsn, bool PayloadIntact = true)
{
    /// <summary>Address of the record before this one.</summary>
    public long Previous { get; init; }

    /// <summary>Set for a page whose headers are damaged: its position is known, its streams and origin are
    /// not.</summary>
    public (uint Seed, uint Check)? DamagedHeaders { get; init; }
}

/// <summary>The fixed part of a stored record, decoded; <see cref="RecordCodec"/> gives the byte layout.</summary>
/// <param name="Previous">Address of the record before this one, 0 for the first. It makes a missing record
/// visible.</param>
/// <param name="Floor">Everything below was durable when this record was written; always a record's end. Damage below
/// the floor of a later record is corruption, not a torn tail (R6).</param>
/// <param name="Incarnation">Counts the runs of the unit: bytes that an earlier run left behind the tail never pass for
/// new ones.</param>
/// <param name="LogId">Derived from the unit's identity: another unit's file never passes for this one's.</param>
internal readonly record struct RecordHeader(RecordKind Kind, LogPosition Position, int BodyLength, int CheckedLength,
    long Previous, long Floor, uint Incarnation, uint LogId)
{
    public static RecordHeader Of(in FramedHeader header) => new((RecordKind)header.Kind,
        new LogPosition(header.Number, new Epoch(header.Epoch)), header.BodyLength, header.CheckedLength,
        header.Previous, header.Floor, header.Incarnation, header.LogId);

    public FramedHeader Framed => new((byte)Kind, Position.Offset, Position.Epoch.Value, BodyLength, CheckedLength,
        Previous, Floor, Incarnation, LogId);
}
