using Corfu.Protocol;

namespace Corfu.Unit;

/// <summary>
/// The unit core's port to its disk: one log of records and the address map over it. <see cref="Find"/>,
/// <see cref="Set"/>, <see cref="Append"/> and <see cref="Admit"/> are synchronous and called under the handler's lock,
/// never concurrently.
/// </summary>
internal interface IPageStore : IAsyncDisposable
{
    /// <summary>
    /// Reads the log back, in order, and makes the store ready: its own Open record is durable on return. Called once,
    /// first. The visitor may call <see cref="Find"/> and <see cref="Set"/>.
    /// </summary>
    /// <param name="restore">
    /// Takes the core's state of a checkpoint, before the records that follow it, of which some may be reflected in the
    /// slots already. Null: all records are read.
    /// </param>
    /// <exception cref="LogDamagedException">Something acknowledged is damaged or missing: the unit must not start
    /// (R6).</exception>
    ValueTask RecoverAsync(RecordVisitor visit, Action<ReadOnlyMemory<byte>>? restore = null);

    /// <summary>Must be set before the first append after recovery.</summary>
    IStoreObserver? Observer { get; set; }

    /// <summary>The slot of a position; the default (unwritten) where there is none.</summary>
    PageSlot Find(LogPosition position);

    void Set(LogPosition position, in PageSlot slot);

    /// <summary>
    /// Whether a record of this size may be appended now: Ok, TooLarge, NoSpace or Overloaded. Every append asks first,
    /// under the same lock.
    /// </summary>
    Status Admit(int bodyLength, SpaceUse use);

    /// <summary>Whether pages are refused for want of space.</summary>
    UnitHealth Health { get; }

    /// <summary>
    /// Adds a record to the log's volatile end and returns its place; it becomes durable in order, some time after the
    /// next <see cref="Commit"/>. The body is copied.
    /// </summary>
    RecordPlace Append(in LogRecord record);

    /// <summary>Starts making durable what was appended, unless that is already under way.</summary>
    void Commit();

    /// <summary>End of what was appended.</summary>
    long AppendedUntil { get; }

    /// <summary>Everything up to here is durable.</summary>
    long DurableUntil { get; }

    /// <summary>
    /// Bytes of the log from a slot's address; only for what is durable. Unchecked: the caller verifies them. Empty if
    /// that part of the log has been deleted by a prefix trim meanwhile. Any thread.
    /// </summary>
    ValueTask<ReadOnlyMemory<byte>> ReadAsync(long address, int length);

    /// <summary>Everything below the position has been trimmed: the store may forget slots. A hint.</summary>
    void Release(LogPosition below);

    /// <summary>The part of the log that an address lies in, of those that can be deleted alone; 0 where there are no
    /// parts.</summary>
    int SegmentOf(long address) => 0;

    /// <summary>Whether the next record, of this size, must have a state record before it: the first of a part, and the
    /// first of a run.</summary>
    bool OpensSegment(int bodyLength) => false;

    /// <summary>That many bytes at the address are not needed any more; of a page that is none any more, or stands
    /// elsewhere.</summary>
    void Dead(long address, int bytes, bool wholePage)
    {
    }

    /// <summary>Pages and bytes of log held, for people.</summary>
    (long Pages, long Bytes) Size { get; }
}
