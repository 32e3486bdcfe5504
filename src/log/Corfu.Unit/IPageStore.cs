namespace Corfu.Unit;

/// <summary>The unit core's port to its disk: one log of records and the address map over it. <see cref="Find"/>,
/// <see cref="Set"/>, <see cref="Append"/> and <see cref="Admit"/> are synchronous and called under the handler's lock,
/// never concurrently.</summary>
internal interface IPageStore : IAsyncDisposable
{
    /// <summary>Reads the log back, in order, and makes the store ready: its own Open record is durable on return.
    /// Called once, first. The visitor may call <see cref="Find"/> and <see cref="Set"/>.</summary>
    /// <param name="restore">Takes the core's state of a checkpoint, before the records that follow it; the slots may
    /// already reflect some of those. Null: all records are read.</param>
    /// <exception cref="LogDamagedException">Something acknowledged is damaged or missing: the unit must not
    /// start.</exception>
    ValueTask RecoverAsync(RecordVisitor visit, Action<ReadOnlyMemory<byte>>? restore = null);

    /// <summary>Whether the last recovery read only the records behind a checkpoint. One that reads them all may
    /// succeed where it failed.</summary>
    bool StartedFromCheckpoint => false;

    /// <summary>Must be set before the first append after recovery.</summary>
    IStoreObserver? Observer { get; set; }

    /// <summary>Gives the core's state. A store with segments appends it before the first record of a segment, and of a
    /// run, so that a segment can be read without those before it. Set after recovery.</summary>
    Func<LogRecord> StateRecord
    {
        set { }
    }

    /// <summary>The store as its cleaner sees it; null where no part of the log is ever deleted.</summary>
    ICleanableStore? Cleanable => null;

    /// <summary>The slot of a position; the default (unwritten) where there is none.</summary>
    PageSlot Find(LogPosition position);

    void Set(LogPosition position, in PageSlot slot);

    /// <summary>Whether a record of this size may be appended now: Ok, TooLarge, NoSpace or Overloaded. Every append
    /// asks first, under the same lock.</summary>
    Status Admit(int bodyLength, SpaceUse use);

    /// <summary>Whether pages are refused for want of space.</summary>
    UnitHealth Health { get; }

    /// <summary>A shortage because of which pages will soon be refused, for people; null: there is none.</summary>
    string? Shortage => null;

    /// <summary>Adds a record to the log's volatile end and returns its place; it becomes durable in order, some time
    /// after the next <see cref="Commit"/>. The body is copied.</summary>
    RecordPlace Append(in LogRecord record);

    /// <summary>Starts making durable what was appended, unless that is already under way.</summary>
    void Commit();

    /// <summary>End of what was appended.</summary>
    long AppendedUntil { get; }

    /// <summary>Everything up to here is durable.</summary>
    long DurableUntil { get; }

    /// <summary>Bytes of the log from a slot's address, which must be durable. The caller verifies them. Empty if a
    /// trim has deleted that part of the log meanwhile. Any thread.</summary>
    ValueTask<ReadOnlyMemory<byte>> ReadAsync(long address, int length);

    /// <summary>Everything below the position has been trimmed: the store may forget slots. A hint.</summary>
    void Release(LogPosition below);

    /// <summary>The segment that an address lies in; 0 where the log has none.</summary>
    int SegmentOf(long address) => 0;

    /// <summary>Bytes at the address are not needed any more.</summary>
    /// <param name="wholePage">The page itself is gone or stands elsewhere.</param>
    void Dead(long address, int bytes, bool wholePage)
    {
    }

    /// <summary>Room and size of the file system; null where that is not known.</summary>
    (long Free, long Total)? Disk => null;

    /// <summary>Pages and bytes of log held, for people.</summary>
    (long Pages, long Bytes) Size { get; }
}

/// <summary>Called from the store's own thread: handlers must be short and never append.</summary>
internal interface IStoreObserver
{
    /// <summary>Everything up to the log sequence number is durable. Never falls.</summary>
    void OnDurable(long lsn);

    /// <summary>As above.</summary>
    /// <param name="took">The time of the write and the sync.</param>
    void OnDurable(long lsn, TimeSpan took) => OnDurable(lsn);

    /// <summary>A fatal error, reported once: a failed write or fsync is never retried, the store is dead until the
    /// process restarts.</summary>
    void OnFailed(Exception error);
}

/// <summary>Uses of the reserve on a disk that is nearly full, in the order in which they are refused.</summary>
internal enum SpaceUse
{
    /// <summary>Pages: refused before they touch the reserve.</summary>
    Pages,

    /// <summary>Junk: a quarter of the reserve. A refused append leaves a hole, which readers must close to pass it.
    /// </summary>
    Fills,

    /// <summary>Trims of single positions: half of the reserve, for each takes space and frees it only later.</summary>
    Trims,

    /// <summary>Seals and installs, without which there is no next epoch, and prefix trims, which make room.</summary>
    Vital,
}

/// <summary>A unit's knowledge of a position without reading the page.</summary>
/// <param name="Address">The first byte of the entry in the log: the page, or the tombstone of a trim that brought
/// one.</param>
/// <param name="Length">Length of the entry's bytes.</param>
/// <param name="HeaderLength">Length of the entry's fixed part and stream headers; 0 for a trim without a
/// tombstone.</param>
/// <param name="Lsn">The store must be durable up to here before any answer may reflect this slot (R4).</param>
internal readonly record struct PageSlot(PageState State, long Address, int Length, int HeaderLength,
    EntryOrigin Origin, long Lsn);
