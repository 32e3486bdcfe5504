namespace Salus.Reads;

/// <summary>Blocks of a read that come from one place.</summary>
/// <param name="First">Within the volume.</param>
/// <param name="Source">The batch that gives the blocks; null: a member does.</param>
/// <param name="Range">The blocks within their region, all in one page of the tree.</param>
/// <param name="PageHash">The hash of that page, as of the read.</param>
/// <param name="Leaves">The leaves of the blocks, as of the read; null: the page is not loaded.</param>
/// <param name="Numbered">The region's last batch with a number, as of the read: later ones change what members
/// answer.</param>
internal readonly record struct ReadPiece(long First, int Count, Batch? Source, BlockRange Range, Hash128 PageHash,
    Hash128[]? Leaves, BatchPoint Point, long Numbered)
{
    public int Page => Range.First / TreePage.Leaves;
}
