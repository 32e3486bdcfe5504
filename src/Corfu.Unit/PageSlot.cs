using Corfu.Protocol;

namespace Corfu.Unit;

/// <summary>What a unit knows about one position without reading the page.</summary>
/// <param name="Address">Where the entry's bytes begin in the log: the page, or the tombstone of a trim that brought
/// one.</param>
/// <param name="Length">Of those bytes.</param>
/// <param name="HeaderLength">Of the entry's fixed part and stream headers; 0 for a trim without a tombstone.</param>
/// <param name="Lsn">The store must be durable up to here before any answer may reflect this slot (R4).</param>
internal readonly record struct PageSlot(PageState State, long Address, int Length, int HeaderLength,
    EntryOrigin Origin, long Lsn);
