using Corfu.Protocol;

namespace Corfu.Unit;

/// <summary>The fixed part of a stored record, decoded; <see cref="RecordCodec"/> gives the byte layout.</summary>
/// <param name="Previous">Address of the record before this one, 0 for the first. It makes a missing record
/// visible.</param>
/// <param name="Floor">
/// Everything below was durable when this record was written; always a record's end. A record that is there proves that
/// what is missing or damaged below its floor was once acknowledged: corruption, not a torn tail (R6).
/// </param>
/// <param name="Incarnation">Counts the runs of the unit: bytes that an earlier run left behind the tail never pass for
/// new ones.</param>
/// <param name="LogId">Derived from the unit's identity: another unit's file never passes for this one's.</param>
internal readonly record struct RecordHeader(
    RecordKind Kind, LogPosition Position, int BodyLength, int CheckedLength, long Previous, long Floor,
    uint Incarnation, uint LogId);
