using Corfu.Protocol;

namespace Corfu.Unit;

/// <summary>
/// One fact in a unit's log, the only truth about the unit (R3). Used both ways: what the core appends, and what the
/// recovery scan hands back.
/// </summary>
/// <param name="Position">The page's position, the new trim mark or an epoch's start, by kind; carries the record's
/// epoch.</param>
/// <param name="Body">An encoded entry, a tombstone or a state snapshot. Copied by the store before its append
/// returns.</param>
/// <param name="CheckedLength">
/// How much of the body the record's own check covers. For pages that is the entry's headers: its payload has a check
/// of its own, so that a damaged payload leaves a page that is known and corrupt, instead of a log that cannot be read.
/// </param>
internal readonly record struct LogRecord(RecordKind Kind, LogPosition Position, ReadOnlyMemory<byte> Body,
    int CheckedLength)
{
    public LogRecord(RecordKind kind, LogPosition position)
        : this(kind, position, default, 0)
    {
    }

    public LogRecord(RecordKind kind, LogPosition position, ReadOnlyMemory<byte> body)
        : this(kind, position, body, body.Length)
    {
    }
}
