using System.Buffers.Binary;
using System.Security.Cryptography;

namespace Craq.Storage;

/// <summary>The port of a node's chains to their disk: one log of records for all chains, and the index of clean
/// objects over it. The synchronous members are called under the node's lock, never concurrently.</summary>
internal interface INodeStore : IAsyncDisposable
{
    /// <summary>Reads the log back, in order, and makes the store ready. Called once, first. The visitor may enter and
    /// remove slots. A body is valid during the call only.</summary>
    /// <remarks>
    /// A <see cref="StoreRecordKind.ChainState"/> says all that the chain's records before it have said, besides clean
    /// objects and records that were dirty then. A start from a checkpoint begins with one for each chain, each
    /// followed by those records. A chain that has no state at the end was forgotten. A record with
    /// <see cref="StoreRecord.IsMoved"/> was copied by the cleaner: as a <see cref="StoreRecordKind.Chain"/> it may
    /// come after later records of its chain, as a <see cref="StoreRecordKind.Copy"/> it is an object that was clean.
    /// </remarks>
    /// <returns>Whether the log had any record, of the store's own too: false for a new one.</returns>
    /// <exception cref="CorfuException">Something that was acknowledged is damaged or missing (C19): the node must not
    /// start.</exception>
    ValueTask<bool> RecoverAsync(Action<StoreRecord> visit);

    /// <summary>Must be set before the first append after recovery.</summary>
    INodeStoreObserver? Observer { get; set; }

    /// <summary>The chains, for the cleaner and for checkpoints, which begin when it is set. After recovery; null: the
    /// node ends, and neither runs from the return on.</summary>
    ValueTask AttachAsync(INodeChains? chains);

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
    /// <param name="version">The version of the deletion; an object of a newer version stays.</param>
    /// <param name="address">The address of the record that says so, from its <see cref="StorePlace"/>.</param>
    void Remove(ChainId chain, ObjectKey key, ObjectVersion version, long address);

    /// <summary>All objects of the chain with versions below are absent: a Clear is committed. During recovery also for
    /// what a <see cref="StoreRecordKind.ChainState"/> says.</summary>
    void Clear(ChainId chain, ObjectVersion below);

    /// <summary>The chain is not held any more, and has no objects. After its <see cref="StoreRecordKind.Forget"/>, and
    /// in recovery when that comes.</summary>
    void Forget(ChainId chain);

    /// <summary>The value of a slot, verified against its key and its check; null: damaged, or cleaned away meanwhile,
    /// in which case the slot has changed. Any thread, outside the lock.</summary>
    /// <exception cref="CorfuException">The record is another key's: two keys have one hash.</exception>
    ValueTask<ReadOnlyMemory<byte>?> ReadAsync(ObjectSlot slot, ObjectKey key);

    /// <summary>All clean objects of a chain from a hash on, in the order of their hashes, for learners; a state as of
    /// some moment during the call for each object. Reads no record: keys come by <see cref="ReadKeyAsync"/>. Any
    /// thread, outside the lock.</summary>
    IAsyncEnumerable<(ObjectHash Hash, ObjectSlot Slot)> ListAsync(ChainId chain, ObjectHash from);

    /// <summary>Clean objects of all chains whose expiry is at or before a time, in Unix milliseconds: they may be
    /// overwritten meanwhile. Nothing is read where no object has an expiry. Any thread, outside the lock, one call at
    /// a time.</summary>
    /// <param name="most">The first ones that are found.</param>
    ValueTask<IReadOnlyList<(ChainId Chain, ObjectSlot Slot)>> FindExpiredAsync(long wall, int most);

    /// <summary>The key of a listed slot; null: as for <see cref="ReadAsync"/>.</summary>
    ValueTask<ObjectKey?> ReadKeyAsync(ObjectSlot slot);

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

/// <summary>The store's port to the node's chains, for its cleaner and its checkpoints.</summary>
internal interface INodeChains
{
    /// <summary>Runs a short step under the node's lock. The members below are called in such steps only.</summary>
    T Locked<T>(Func<T> step);

    /// <summary>The chains that the node holds, as members or as learners.</summary>
    IReadOnlyCollection<ChainId> Held { get; }

    /// <summary>Whether a record counts besides its clean objects: the record is dirty.</summary>
    bool Needs(ChainId chain, ObjectVersion version);

    /// <summary>The cleaner has copied a needed record to this place, and the old place goes.</summary>
    void Moved(ChainId chain, ObjectVersion version, StorePlace place);

    /// <summary>Appends a <see cref="StoreRecordKind.Mark"/> unless the newest mark stands in the log. False: there is
    /// no room at the moment.</summary>
    bool TryLogMark(ChainId chain);

    /// <summary>The chain as of now; null: it is not held.</summary>
    ChainSnapshot? Snapshot(ChainId chain);
}

/// <summary>A chain as of one moment.</summary>
/// <param name="State">The body of a <see cref="StoreRecordKind.ChainState"/>: all that the chain's records have said,
/// held locks too, besides clean objects and needed records.</param>
/// <param name="Needed">The dirty records, by version.</param>
internal sealed record ChainSnapshot(ChainId Chain, ObjectVersion Mark, ReadOnlyMemory<byte> State,
    IReadOnlyList<StorePlace> Needed);

/// <summary>A record of a node's log. Numbers of kinds are part of the format.</summary>
internal readonly record struct StoreRecord(
    StoreRecordKind Kind, ChainId Chain, ObjectVersion Version, ReadOnlyMemory<byte> Body, StorePlace Place)
{
    /// <summary>The cleaner has copied it; <see cref="Kind"/> is the original's, and the store never hands out
    /// <see cref="StoreRecordKind.Moved"/>.</summary>
    public bool IsMoved { get; init; }
}

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

    // 9 was kept for relayed values, which have no records of their own.

    /// <summary>A live record that the cleaner copied; its header has the kind of the original.</summary>
    Moved = 10,

    /// <summary>The state of a chain once more, written by the cleaner before the records that say it go.</summary>
    ChainState = 11,

    /// <summary>The first record of a run; the store's own, and not handed out.</summary>
    Open = 12,

    /// <summary>The log begins at the address in its header from here on; the store's own.</summary>
    Freed = 13,
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
/// <param name="Address">The <see cref="StorePlace.Address"/> of its <see cref="ChainRecord"/>.</param>
/// <param name="RecordLength">The <see cref="StorePlace.Length"/>.</param>
/// <param name="Write">The index of the object among the record's writes.</param>
internal readonly record struct ObjectSlot(ObjectVersion Version, long Address, int RecordLength, int Write, int Length,
    uint Flags, long Expiry);

/// <summary>The first 128 bits of the SHA-256 of a chain's id and a key: the same at every node, so that members
/// compare objects without reading their keys. Order is unsigned, high part first.</summary>
internal readonly record struct ObjectHash(ulong High, ulong Low) : IComparable<ObjectHash>
{
    public static ObjectHash Of(ChainId chain, ObjectKey key)
    {
        Span<byte> bytes = stackalloc byte[16 + ObjectKey.MaxLength];
        chain.Value.TryWriteBytes(bytes);
        key.Bytes.Span.CopyTo(bytes[16..]);
        Span<byte> hash = stackalloc byte[SHA256.HashSizeInBytes];
        SHA256.HashData(bytes[..(16 + key.Bytes.Length)], hash);
        return new ObjectHash(BinaryPrimitives.ReadUInt64BigEndian(hash),
            BinaryPrimitives.ReadUInt64BigEndian(hash[8..]));
    }

    public int CompareTo(ObjectHash other)
    {
        var high = High.CompareTo(other.High);
        return high != 0 ? high : Low.CompareTo(other.Low);
    }
}
