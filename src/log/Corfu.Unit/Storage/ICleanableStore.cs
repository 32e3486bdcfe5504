namespace Corfu.Unit;

/// <summary>The cleaner's port to a store: whole segments are deleted, once nothing needs them. Calls that change the
/// store's state are made under the handler's lock.</summary>
internal interface ICleanableStore
{
    IWorkers Workers { get; }

    /// <summary>Called, from any thread, when there may be something to clean.</summary>
    Action? CleaningDue { get; set; }

    bool IsFull { get; }

    int SegmentSize { get; }

    /// <summary>Bytes of the largest record that the cleaner appends.</summary>
    int LargestBody { get; }

    /// <summary>Segments whose positions are all below the mark.</summary>
    IReadOnlyList<int> WhollyTrimmed(LogPosition mark);

    /// <summary>The segment that it pays most to empty, or -1.</summary>
    int Sparsest(LogPosition mark);

    /// <summary>Not again before something in it changes.</summary>
    void SetAside(int segment);

    /// <summary>Reads the records of a segment, in order, without any lock. False if it is damaged or the visitor has
    /// stopped.</summary>
    ValueTask<bool> ReadSegmentAsync(int segment, Func<LogRecord, RecordPlace, ValueTask<bool>> visit);

    /// <summary>From here on, state and freed records say that these segments are missing on purpose.</summary>
    void AboutToFree(IReadOnlySet<int> segments);

    /// <summary>Appends the list of deleted parts. False if there is no room at the moment.</summary>
    bool TryAppendFreed();

    /// <summary>Deletes the segments; without the lock, once the list of deleted parts is durable.</summary>
    void Delete(IReadOnlySet<int> segments);

    bool CheckpointDue { get; }

    /// <summary>A clean stop has time: a smaller saving at the next start is worth a checkpoint.</summary>
    bool CheckpointDueAtEnd { get; }

    /// <summary>Begins a checkpoint of the address map, between two requests.</summary>
    MapCheckpoint BeginCheckpoint();

    ValueTask EndCheckpointAsync(MapCheckpoint begun);

    /// <summary>The log is durable up to what the checkpoint needs.</summary>
    ValueTask PublishCheckpointAsync(MapCheckpoint ended);
}
