using Corfu.Protocol;

namespace Corfu.Unit;

/// <summary>A read whose states are decided and whose bytes are still to be fetched.</summary>
internal sealed record ReadPlan(Epoch Epoch, ReadDetail Detail, PlannedPage[] Pages);

/// <summary>One page of a planned read.</summary>
/// <param name="BelowMark">Trimmed by prefix: there is nothing to fetch.</param>
internal readonly record struct PlannedPage(LogPosition Position, PageSlot Slot, bool BelowMark);
