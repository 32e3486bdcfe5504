using Corfu.Protocol;

namespace Corfu.Unit;

/// <summary>The page states as a reader of pages uses them: the core itself, or the handler, which calls it under its
/// lock.</summary>
internal interface IPageStates
{
    /// <summary>The answer to a read of the page, and what must be durable before it is given.</summary>
    (PlannedPage Page, long Lsn) Plan(LogPosition position);

    /// <summary>Two reads in a row found the page damaged: its state is Corrupt from now on (R4), never unwritten, so
    /// it is never filled.</summary>
    /// <param name="address">Where it was read: a page that was repaired or moved meanwhile is not marked.</param>
    void MarkCorrupt(LogPosition position, long address, CorruptPage page);

    /// <summary>A page marked as damaged was read again and is whole, so only the transfers were bad. It may be the
    /// only copy of its chain (R4, R11), so it counts again.</summary>
    /// <returns>False if these are not the bytes of the entry that was written there: the mark stays. True: the page is
    /// to be planned again.</returns>
    bool MarkSound(LogPosition position, long address, ReadOnlyMemory<byte> entry);
}
