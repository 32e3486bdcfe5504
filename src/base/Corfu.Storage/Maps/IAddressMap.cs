namespace Corfu.Storage;

/// <summary>A store's port to its address map, key to slot: FasterKV, or the simulator's. A shortcut only, rebuilt from
/// the log where there is no checkpoint. One caller at a time, but <see cref="LoadAsync"/>,
/// <see cref="ScanAsync"/>, <see cref="EndCheckpointAsync"/> and <see cref="Forget"/> run beside the others.</summary>
public interface IAddressMap<TKey, TSlot> : IDisposable
    where TKey : unmanaged
    where TSlot : unmanaged
{
    /// <summary>The default slot where nothing was entered. Waits for the disk.</summary>
    TSlot Find(TKey key);

    /// <summary>Like <see cref="Find"/>, but false instead of waiting for the disk.</summary>
    bool TryFind(TKey key, out TSlot slot);

    /// <summary>Makes a key's slot likely to be found without waiting. Any thread.</summary>
    ValueTask LoadAsync(TKey key);

    void Set(TKey key, in TSlot slot);

    /// <summary>The address of the next slot; rises.</summary>
    long Tail { get; }

    /// <summary>Bytes held, in memory and on disk.</summary>
    long Bytes { get; }

    /// <summary>Visits the slots entered from a place on, superseded ones too, in their order, until the place
    /// <paramref name="until"/>. Slots that are forgotten meanwhile may be left out. Any thread.</summary>
    ValueTask ScanAsync(long from, long until, Action<TKey, TSlot> visit);

    /// <summary>Drops what was entered before that place.</summary>
    void Forget(long before);

    /// <summary>Begins a checkpoint of what was entered so far; it may hold some later entries.</summary>
    Guid BeginCheckpoint();

    /// <summary>Ends it while the map serves. Durable on return.</summary>
    ValueTask EndCheckpointAsync(Guid token);
}

/// <summary>Stores address maps: their checkpoints, and the store's own part of each, a numbered document.</summary>
public interface IAddressMaps<TKey, TSlot>
    where TKey : unmanaged
    where TSlot : unmanaged
{
    /// <param name="checkpoint">A checkpoint of an earlier run, to go on from; null begins empty and may delete the
    /// checkpoints of earlier runs.</param>
    /// <param name="failed">Called when the map has lost slots: nothing may be answered from it any more.</param>
    /// <exception cref="StoreFailedException">The checkpoint cannot be used.</exception>
    IAddressMap<TKey, TSlot> Open(Guid? checkpoint, Action<Exception> failed);

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

/// <summary>Sizes of an address map, in bytes; powers of two.</summary>
/// <param name="Index">The hash index.</param>
/// <param name="Memory">For the newest part of the map; the rest spills to a scratch file.</param>
public readonly record struct AddressMapSizes(long Index, long Memory)
{
    /// <summary>Adds the rules of a store's options for its address map.</summary>
    /// <param name="sizes">The sizes that the options give.</param>
    /// <param name="index">The option that gives <see cref="Index"/>.</param>
    /// <param name="memory">The option that gives <see cref="Memory"/>.</param>
    public static OptionRules<TOptions> AddRules<TOptions>(OptionRules<TOptions> rules,
        Func<TOptions, AddressMapSizes> sizes, string index, string memory)
        where TOptions : class => rules
        .Must(o => sizes(o).Index, o => long.IsPow2(sizes(o).Index) && sizes(o).Index >= 4096,
            "a power of two of at least 4,096", index)
        .Must(o => sizes(o).Memory, o => long.IsPow2(sizes(o).Memory) && sizes(o).Memory >= 1 << 20,
            "a power of two of at least 1 MiB", memory);
}
