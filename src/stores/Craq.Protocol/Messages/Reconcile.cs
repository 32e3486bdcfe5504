namespace Craq.Protocol;

/// <summary>From a learner to its source, a full member: what the learner lacks of the clean objects, found by
/// digests (CRAQ 5.3). With neither prefixes nor keys it begins a round: the answer has the base.</summary>
/// <param name="Base">The source's mark when the round began: objects of versions above are left out. At the beginning
/// the learner's own mark, which the source must have reached.</param>
/// <param name="Prefixes">Ranges of key hashes whose contents are asked for.</param>
/// <param name="Keys">Hashes of the objects that are asked for.</param>
public sealed record ReconcileRequest(Epoch Epoch, ChainId Chain, ObjectVersion Base,
    ImmutableArray<HashPrefix> Prefixes, ImmutableArray<KeyHash> Keys)
    : Request<ReconcileResponse>(CraqOpcode.Reconcile, Epoch)
{
    public const int MaxPrefixes = 64;
    public const int MaxKeys = 1024;

    /// <summary>The hashes of objects whose contents are compared; null: of none. A source of an earlier build passes
    /// over it.</summary>
    public HashRange? Contents { get; init; }

    public override bool AnswerKeepsInput() => true;

    public override void WriteBody(ref WireWriter w)
    {
        w.Guid(Chain.Value);
        w.Version(Base);
        w.Array(Prefixes, static (ref w, prefix) =>
        {
            w.Byte(prefix.Length);
            w.UInt64(prefix.Bits);
        });
        w.Array(Keys, static (ref w, key) => key.Write(ref w));
        Contents?.Write(ref w);
    }

    internal static ReconcileRequest Read(Epoch epoch, ref WireReader r) => new(epoch, new ChainId(r.Guid()),
        r.Version(), r.Array(9, HashPrefix.Read, MaxPrefixes), r.Array(16, KeyHash.Read, MaxKeys))
    {
        Contents = r.Remaining > 0 ? HashRange.Read(ref r) : null,
    };

    public override Response ReadResponse(Status status, Epoch epoch, ref WireReader r) => status == Status.Ok
        ? new ReconcileResponse(status, epoch)
        {
            Base = r.Version(),
            Buckets = r.Array(8, HashBucket.Read, MaxPrefixes),
            Records = r.Array(4, static (ref r) => r.Bytes(), MaxKeys),
            Contents = r.Remaining > 0 ? ContentList.Read(ref r) : null,
        }
        : Fail(status, epoch);

    public override Response Fail(Status status, Epoch epoch) => new ReconcileResponse(status, epoch);
}

/// <summary>The source's part of a reconciliation.</summary>
public sealed record ReconcileResponse(Status Status, Epoch Epoch) : Response(Status, Epoch)
{
    /// <summary>The source's mark when it had read the answer: objects with versions above the request's base are
    /// not in it, and are committed up to here.</summary>
    public ObjectVersion Base { get; init; }

    /// <summary>In the order of the request's prefixes.</summary>
    public ImmutableArray<HashBucket> Buckets { get; init; } = [];

    /// <summary>A record of one write for each key, in the order of the request, as far as the answer has room; empty:
    /// there is no such object at or below the base.</summary>
    public ImmutableArray<ReadOnlyMemory<byte>> Records { get; init; } = [];

    /// <summary>Null: none were asked for, or the source is of a build that does not tell them.</summary>
    public ContentList? Contents { get; init; }

    public override void WriteBody(ref WireWriter w)
    {
        if (!IsOk) return;
        w.Version(Base);
        w.Array(Buckets, static (ref w, bucket) => bucket.Write(ref w));
        w.Array(Records, static (ref w, record) => w.Bytes(record.Span));
        Contents?.Write(ref w);
    }
}

/// <summary>The hash of a chain and a key. Order is unsigned, high part first.</summary>
public readonly record struct KeyHash(ulong High, ulong Low)
{
    internal void Write(ref WireWriter w)
    {
        w.UInt64(High);
        w.UInt64(Low);
    }

    internal static KeyHash Read(ref WireReader r) => new(r.UInt64(), r.UInt64());
}

/// <summary>All hashes that begin with the same bytes.</summary>
/// <param name="Length">Bytes: 0, which means all hashes, to <see cref="MaxLength"/>.</param>
/// <param name="Bits">The bytes, in the highest places; the rest is zero.</param>
public readonly record struct HashPrefix(byte Length, ulong Bits)
{
    public const int MaxLength = 8;

    /// <summary>The upper half of the highest hash that has the prefix.</summary>
    public ulong Last => Bits | Rest;

    // The places behind the prefix.
    private ulong Rest => Length == MaxLength ? 0 : ulong.MaxValue >> (8 * Length);

    /// <summary>The prefix that is longer by one byte.</summary>
    public HashPrefix Child(int next) => new((byte)(Length + 1), Bits | ((ulong)next << (56 - (8 * Length))));

    /// <summary>The byte behind the prefix.</summary>
    public int NextOf(ulong high) => Length == MaxLength ? 0 : (int)(high >> (56 - (8 * Length))) & 0xff;

    internal static HashPrefix Read(ref WireReader r)
    {
        var prefix = new HashPrefix(r.Byte(), r.UInt64());
        return prefix.Length <= MaxLength && (prefix.Bits & prefix.Rest) == 0
            ? prefix
            : throw new MalformedDataException("A prefix of hashes is wrong.");
    }
}

/// <summary>The objects below a prefix: all of them where they are few, else digests by the next byte.</summary>
/// <param name="Digests">256 of them, or none.</param>
public sealed record HashBucket(ImmutableArray<ulong> Digests, ImmutableArray<KeyVersion> Keys)
{
    /// <summary>Digests of one prefix.</summary>
    public const int Fan = 256;

    internal void Write(ref WireWriter w)
    {
        w.Array(Digests, static (ref w, digest) => w.UInt64(digest));
        w.Array(Keys, static (ref w, key) =>
        {
            key.Hash.Write(ref w);
            w.Version(key.Version);
        });
    }

    internal static HashBucket Read(ref WireReader r)
    {
        var digests = r.Array(8, static (ref r) => r.UInt64(), Fan);
        var keys = r.Array(24, static (ref r) => new KeyVersion(KeyHash.Read(ref r), r.Version()));
        return digests.Length is 0 or Fan
            ? new HashBucket(digests, keys)
            : throw new MalformedDataException("A bucket has a wrong number of digests.");
    }
}

/// <summary>An object by its hash.</summary>
public readonly record struct KeyVersion(KeyHash Hash, ObjectVersion Version);
