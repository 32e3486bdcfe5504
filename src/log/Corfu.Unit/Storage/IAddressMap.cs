namespace Corfu.Unit;

/// <summary>The page store's port to its address map, position to slot: FasterKV, or the simulator's. A shortcut only,
/// rebuilt from the log where there is no checkpoint (R3). One caller at a time, but <see cref="EndCheckpointAsync"/>
/// and <see cref="Forget"/> run beside the others.</summary>
internal interface IAddressMap : IDisposable
{
    /// <summary>The default slot (unwritten) where nothing was entered.</summary>
    PageSlot Find(LogPosition position);

    void Set(LogPosition position, in PageSlot slot);

    /// <summary>The address of the next slot; rises.</summary>
    long Tail { get; }

    /// <summary>Bytes held, in memory and on disk.</summary>
    long Bytes { get; }

    /// <summary>Drops what was entered before that place: superseded slots, and slots below the trim mark.</summary>
    void Forget(long before);

    /// <summary>Begins a checkpoint of what was entered so far; it may hold some later entries.</summary>
    Guid BeginCheckpoint();

    /// <summary>Ends it while the map serves. Durable on return.</summary>
    ValueTask EndCheckpointAsync(Guid token);
}

/// <summary>Stores address maps: their checkpoints, and the page store's own part of each, a numbered
/// document.</summary>
internal interface IAddressMaps
{
    /// <param name="checkpoint">A checkpoint of an earlier run, to go on from; null begins empty and may delete the
    /// checkpoints of earlier runs.</param>
    /// <param name="failed">Called when the map has lost slots: nothing may be answered from it any more.</param>
    /// <exception cref="StoreFailedException">The checkpoint cannot be used.</exception>
    IAddressMap Open(Guid? checkpoint, Action<Exception> failed);

    /// <summary>Numbers of the documents that exist.</summary>
    IReadOnlyList<long> List();

    /// <exception cref="IOException">The document cannot be read.</exception>
    byte[] Read(long number);

    /// <summary>The document appears whole and durable, or not at all.</summary>
    ValueTask PublishAsync(long number, ReadOnlyMemory<byte> document);

    /// <summary>Durable on return.</summary>
    void Delete(IReadOnlyCollection<long> numbers);

    /// <summary>Deletes the map checkpoints besides these.</summary>
    void Purge(IReadOnlyCollection<Guid> kept);
}
