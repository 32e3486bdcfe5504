namespace Corfu.Unit;

/// <summary>The core's answer to one request. R4: it is sent only when the store is durable up to <see cref="Lsn"/>, be
/// it an acknowledgement, a refusal or a state.</summary>
/// <param name="Response">Complete, unless <paramref name="Plan"/> is there.</param>
/// <param name="Plan">Page bytes to fetch, outside the core, before a read can be answered.</param>
internal readonly record struct UnitAnswer(long Lsn, Response? Response, ReadPlan? Plan = null);

/// <summary>A read whose states are decided and whose bytes are still to be fetched.</summary>
internal sealed record ReadPlan(Epoch Epoch, ReadDetail Detail, PlannedPage[] Pages);

/// <summary>A page of a planned read.</summary>
/// <param name="BelowMark">Trimmed by prefix: there is nothing to fetch.</param>
internal readonly record struct PlannedPage(LogPosition Position, PageSlot Slot, bool BelowMark);

/// <summary>A unit's knowledge of a position without reading the page.</summary>
/// <param name="Address">The first byte of the entry in the log: the page, or the tombstone of a trim that brought
/// one.</param>
/// <param name="Length">Length of the entry's bytes.</param>
/// <param name="HeaderLength">Length of the entry's fixed part and stream headers; 0 for a trim without a
/// tombstone.</param>
/// <param name="Lsn">The store must be durable up to here before any answer may reflect this slot (R4).</param>
internal readonly record struct PageSlot(PageState State, long Address, int Length, int HeaderLength,
    EntryOrigin Origin, long Lsn);
