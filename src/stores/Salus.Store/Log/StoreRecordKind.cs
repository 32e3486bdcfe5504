namespace Salus.Store.Log;

/// <summary>The kinds of records in a machine's log. The first four are those of <see cref="RegionRecordKind"/>,
/// records of a region's own log. Numbers are part of the format and never reused.</summary>
internal enum StoreRecordKind : byte
{
    None = 0,
    Put = 1,
    Open = 2,
    Cut = 3,
    Compact = 4,

    /// <summary>Lower generations of the region are over; the header's epoch is the lowest that is taken.</summary>
    Seal = 5,

    /// <summary>A <see cref="CommitProof"/>; shortens recoveries, and proves what must not be lost (S20).</summary>
    CommitMark = 6,

    /// <summary>A certified checkpoint.</summary>
    Checkpoint = 7,

    /// <summary>The first record of a run; the store's own.</summary>
    Begin = 8,

    /// <summary>The region's records up to the header's number may go (S19).</summary>
    Floor = 9,

    /// <summary>All that the region's records have said besides its own log, once more: the records that said it are
    /// about to go.</summary>
    State = 10,

    /// <summary>The log begins at the header's number from here on; the store's own.</summary>
    Freed = 11,

    /// <summary>The store has no part of the region any more.</summary>
    Forget = 12,
}
