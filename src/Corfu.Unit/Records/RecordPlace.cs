namespace Corfu.Unit;

/// <summary>Where a record stands in its log.</summary>
/// <param name="BodyAddress">Of the first byte of the body: what a page slot remembers.</param>
/// <param name="Lsn">The record's end, aligned: it is durable once the store is durable up to here.</param>
/// <param name="PayloadIntact">False for a page whose headers are good and whose payload is damaged, or for one without
/// good headers.</param>
internal readonly record struct RecordPlace(long BodyAddress, long Lsn, bool PayloadIntact = true)
{
    /// <summary>Address of the record before this one.</summary>
    public long Previous { get; init; }

    /// <summary>Set for a page whose headers are damaged: its position is known, its streams and origin are not, this
    /// is left to recognise it by.</summary>
    public (uint Seed, uint Check)? DamagedHeaders { get; init; }
}
