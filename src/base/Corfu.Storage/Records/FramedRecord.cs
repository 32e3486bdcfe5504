namespace Corfu.Storage;

/// <summary>A record of a store's log, as every store frames it; <see cref="RecordFraming"/> gives the bytes.</summary>
/// <param name="Kind">The store's own number.</param>
/// <param name="Number">The store's own; not negative, as is <paramref name="Epoch"/>.</param>
/// <param name="CheckedLength">How much of the body the record's own check covers. The rest has checks of its own, so
/// that damage there costs a value and not the log.</param>
public readonly record struct FramedRecord(byte Kind, long Number, long Epoch, ReadOnlyMemory<byte> Body,
    int CheckedLength);

/// <summary>The fixed part of a stored record, decoded.</summary>
/// <param name="Previous">Address of the record before this one, 0 for the first. A missing record becomes visible by
/// it.</param>
/// <param name="Floor">Everything below was durable when this record was written; always a record's end. Damage below
/// the floor of a later record is corruption, not a torn tail.</param>
/// <param name="Incarnation">Counts the runs of the store: bytes that an earlier run left behind the tail never pass
/// for new ones.</param>
/// <param name="LogId">Derived from the store's identity: another store's file never passes for this one's.</param>
public readonly record struct FramedHeader(byte Kind, long Number, long Epoch, int BodyLength, int CheckedLength,
    long Previous, long Floor, uint Incarnation, uint LogId);

/// <summary>A record's place in its log.</summary>
/// <param name="Address">The address of its header.</param>
/// <param name="Lsn">The record's end, aligned: it is durable once the store is durable up to here.</param>
/// <param name="IsIntact">False where a part of the body behind the checked part is damaged.</param>
/// <param name="Damage">Set where the checked part is damaged: CRC-32C of the seed and that part must give the
/// check.</param>
public readonly record struct FramedPlace(long Address, long Lsn, long Previous, bool IsIntact,
    (uint Seed, uint Check)? Damage);

/// <summary>The end of a recovery scan, and the state with which the next run of the store goes on from there.
/// </summary>
/// <param name="End">End of the last valid record; anything behind it is a torn tail and was never
/// acknowledged.</param>
/// <param name="LastRecord">Address of the last record, 0 in an empty log.</param>
/// <param name="Incarnation">Incarnation of the last record, 0 in an empty log.</param>
/// <param name="Records">How many records were accepted.</param>
/// <param name="TornBytes">Whether something was written behind the end that did not become part of the log.</param>
public readonly record struct LogTail(long End, long LastRecord, uint Incarnation, long Records,
    bool TornBytes = false)
{
    /// <summary>Deleted parts in the middle of the log: the last record before each, and the last one in it.</summary>
    public IReadOnlyList<(long Before, long Last)> Breaks { get; init; } = [];
}

/// <summary>The log lacks something that was once acknowledged. Its server does not start: serving would answer that
/// something does not exist which does.</summary>
public sealed class LogDamagedException(string message, long address) : CorfuException(message)
{
    /// <summary>Log address behind which something is damaged or missing.</summary>
    public long Address { get; } = address;
}
