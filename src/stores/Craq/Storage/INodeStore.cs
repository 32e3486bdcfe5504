namespace Craq.Storage;

/// <summary>The port of a node's chains to their disk: one log of records for all chains, and the index of clean
/// objects over it. The synchronous members are called under the node's lock, never concurrently.</summary>
internal interface INodeStore : IAsyncDisposable
{
    /// <summary>Reads the log back, in order, and makes the store ready. Called once, first. The visitor may enter and
    /// remove slots.</summary>
    /// <exception cref="CorfuException">Something that was acknowledged is damaged or missing (C19): the node must not
    /// start.</exception>
    ValueTask RecoverAsync(Action<StoreRecord> visit);

    /// <summary>Must be set before the first append after recovery.</summary>
    INodeStoreObserver? Observer { get; set; }

    /// <summary>Whether a record of this size may be appended now: Ok, TooLarge, NoSpace or Overloaded. Every append
    /// asks first, under the same lock.</summary>
    Status Admit(int bytes, StoreUse use);

    /// <summary>Adds a record to the log's volatile end. It becomes durable in order, some time after the next
    /// <see cref="Commit"/>. The body is copied.</summary>
    StorePlace Append(StoreRecordKind kind, ChainId chain, ObjectVersion version, ReadOnlySpan<byte> body);

    /// <summary>Starts making durable what was appended, unless that is already under way.</summary>
    void Commit();

    /// <summary>The newest clean version of an object, or null: there is none. A slot that is not in memory comes by
    /// <see cref="LoadAsync"/>.</summary>
    /// <returns>False: ask again after <see cref="LoadAsync"/>.</returns>
    bool TryFind(ChainId chain, ObjectKey key, out ObjectSlot? slot);

    /// <summary>Brings the slot of a key into memory. Any thread, outside the lock.</summary>
    ValueTask LoadAsync(ChainId chain, ObjectKey key);

    /// <summary>The version has become clean: the one before it is dead space. Never over a newer one.</summary>
    void Set(ChainId chain, ObjectKey key, in ObjectSlot slot);

    /// <summary>The object has been deleted, committed, or was dropped by a learner.</summary>
    void Remove(ChainId chain, ObjectKey key);

    /// <summary>The value of a slot, verified against its key and its check; null: damaged, or cleaned away meanwhile,
    /// in which case the slot has changed. Any thread, outside the lock.</summary>
    ValueTask<ReadOnlyMemory<byte>?> ReadAsync(ObjectSlot slot, ObjectKey key);

    /// <summary>All clean objects of a chain, in the order of their hashes, for learners; a state as of some moment
    /// during the call for each object. Any thread.</summary>
    IAsyncEnumerable<(ObjectHash Hash, ObjectKey Key, ObjectSlot Slot)> ListAsync(ChainId chain, ObjectHash from);

    /// <summary>Everything appended below is durable.</summary>
    long DurableUntil { get; }
}

/// <summary>Called from the store's own thread: handlers are short and never append.</summary>
internal interface INodeStoreObserver
{
    /// <summary>Everything that was appended up to there is durable. Never falls.</summary>
    void OnDurable(long lsn);

    /// <summary>A fatal error, reported once: a failed write or sync is never retried.</summary>
    void OnFailed(Exception error);
}

/// <summary>A record of a node's log. Numbers of kinds are part of the format.</summary>
internal readonly record struct StoreRecord(
    StoreRecordKind Kind, ChainId Chain, ObjectVersion Version, ReadOnlyMemory<byte> Body, StorePlace Place);

/// <param name="Address">The first byte of the body in the log.</param>
/// <param name="Lsn">Durable once the store is durable up to here.</param>
internal readonly record struct StorePlace(long Address, int Length, long Lsn);

internal enum StoreRecordKind : byte
{
    None = 0,

    /// <summary>A <see cref="ChainRecord"/>.</summary>
    Chain = 1,

    /// <summary>A config that the node serves, or follows as a learner, from now on.</summary>
    Install = 2,

    /// <summary>Everything in the chain up to the version is committed.</summary>
    Mark = 3,

    /// <summary>A clean object that a learner took over: a <see cref="ChainRecord"/> of one write.</summary>
    Copy = 4,

    /// <summary>A learner dropped an object that its source does not have; the body is the key.</summary>
    Remove = 5,

    /// <summary>The learner holds the clean state of a full member as of the version, and every record above.</summary>
    Full = 6,

    /// <summary>The records above the version never count again (C10).</summary>
    Drop = 7,

    /// <summary>The chain is not held any more: its objects go.</summary>
    Forget = 8,

    /// <summary>A relayed value that came before its record.</summary>
    Candidate = 9,

    /// <summary>A live record that the cleaner copied: as the kind in its body's first byte.</summary>
    Moved = 10,

    /// <summary>The state of a chain, at the beginning of a segment, so that earlier segments may go.</summary>
    ChainState = 11,
}

/// <summary>Uses of the reserve on a disk that is nearly full, in the order in which they are refused.</summary>
internal enum StoreUse
{
    Writes,
    Deletes,

    /// <summary>Configs, marks and begins, without which there is no next epoch.</summary>
    Vital,
}

/// <summary>A node's knowledge of a clean object without reading the value.</summary>
/// <param name="Address">The beginning of the record in the log.</param>
/// <param name="RecordLength">Bytes of the record.</param>
/// <param name="Write">The index of the object among the record's writes.</param>
internal readonly record struct ObjectSlot(ObjectVersion Version, long Address, int RecordLength, int Write, int Length,
    uint Flags, long Expiry);

/// <summary>128 bits of a chain and a key, seeded per node folder. Order is unsigned, high part first.</summary>
internal readonly record struct ObjectHash(ulong High, ulong Low) : IComparable<ObjectHash>
{
    public int CompareTo(ObjectHash other)
    {
        var high = High.CompareTo(other.High);
        return high != 0 ? high : Low.CompareTo(other.Low);
    }
}
