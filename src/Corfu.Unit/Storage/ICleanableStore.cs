using Corfu.Protocol;

namespace Corfu.Unit;

/// <summary>
/// A store whose log can lose whole segments: what the cleaner needs of it. The calls that change anything are made under the
/// handler's lock, between the core's.
/// </summary>
internal interface ICleanableStore
{
    /// <summary>Called, from any thread, when there may be something to clean.</summary>
    Action? CleaningDue { get; set; }

    /// <summary>Segments that hold nothing that is live; all of it is below the mark.</summary>
    IReadOnlyList<int> WhollyTrimmed(LogPosition mark);

    /// <summary>The segment that it pays most to empty, or -1.</summary>
    int Sparsest(LogPosition mark);

    /// <summary>Reads the records of a segment, in order, without any lock; stops when the visitor says no. False if it is damaged or was stopped.</summary>
    bool ReadSegment(int segment, Func<LogRecord, RecordPlace, bool> visit);

    /// <summary>Not again before something in it changes.</summary>
    void SetAside(int segment);

    int LargestBody { get; }

    int SegmentSize { get; }

    bool IsFull { get; }

    /// <summary>What a state record from here on says about the log's beginning, and what is excused if missing.</summary>
    void AboutToFree(IReadOnlySet<int> segments);

    /// <summary>Appends the excuse. False if there is no room at the moment; else the sequence number from which <see cref="Delete"/> may follow.</summary>
    bool TryAppendFreed(out long lsn);

    bool CheckpointDue { get; }

    bool CheckpointDueAtEnd { get; }

    /// <summary>Begins a checkpoint of the address map, between two requests.</summary>
    (Guid Map, CheckpointStart Start) BeginCheckpoint();

    /// <summary>Without the lock.</summary>
    void EndCheckpoint(Guid map);

    /// <summary>Without the lock; the log is durable up to <paramref name="needs"/>, where the checkpoint ended.</summary>
    void PublishCheckpoint(Guid map, CheckpointStart start, long needs, ReadOnlyMemory<byte> core);

    /// <summary>Deletes the segments; without the lock, once that sequence number is durable.</summary>
    void Delete(IReadOnlySet<int> segments);
}
