namespace Corfu.Unit;

/// <summary>Where a record stands in its log.</summary>
/// <param name="BodyAddress">Of the first byte of the body: what a page slot remembers.</param>
/// <param name="Lsn">The record's end, aligned: it is durable once the store is durable up to here.</param>
/// <param name="PayloadIntact">False for a page whose headers are good and whose payload is damaged.</param>
public readonly record struct RecordPlace(long BodyAddress, long Lsn, bool PayloadIntact = true);
