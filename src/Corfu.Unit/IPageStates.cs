using Corfu.Protocol;

namespace Corfu.Unit;

/// <summary>What a reader of pages tells the unit, and asks it for: the core itself or, where others use that too,
/// whoever guards it.</summary>
internal interface IPageStates
{
    /// <summary>What a read of the page would answer now, and what must be durable before it may.</summary>
    (PlannedPage Page, long Lsn) Plan(LogPosition position);

    /// <summary>
    /// Two reads in a row found an intact page damaged: from now on its state says so (R4). Never "unwritten", so never
    /// filled.
    /// </summary>
    /// <param name="address">Where it was read: what has been repaired or moved meanwhile is another matter.</param>
    void MarkCorrupt(LogPosition position, long address, CorruptPage page);

    /// <summary>
    /// A page that is marked as damaged was read again, and is whole: the transfers were bad, not the page. It may be
    /// the only one of its chain (R4, R11), so it counts again.
    /// </summary>
    /// <returns>False if these are not the bytes of the entry that was written there: the mark stays. True: the page is
    /// to be planned again.</returns>
    bool MarkSound(LogPosition position, long address, ReadOnlyMemory<byte> entry);
}
