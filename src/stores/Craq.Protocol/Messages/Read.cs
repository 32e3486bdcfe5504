namespace Craq.Protocol;

/// <summary>Reads objects of one chain, in request order. The answer may stop early at
/// <see cref="MessageLimits.ReadBudget"/>, but never before one object. Without keys it asks for the mark.</summary>
/// <param name="Token">Session reads: the least mark that the answer may have.</param>
/// <param name="MaxAhead">Bounded reads: uncommitted versions that the answer may be ahead.</param>
/// <param name="MaxAge">Bounded reads: the age in milliseconds that the answer may have; 0: any.</param>
/// <param name="WithValues">False: versions, flags and lengths only.</param>
public sealed record ReadObjectsRequest(Epoch Epoch, ChainId Chain, ObjectReadMode Mode, ImmutableArray<ObjectKey> Keys,
    ObjectVersion Token = default, int MaxAhead = 0, int MaxAge = 0, bool WithValues = true)
    : Request<ReadObjectsResponse>(CraqOpcode.Read, Epoch)
{
    public const int MaxKeys = 256;

    public override void WriteBody(ref WireWriter w)
    {
        w.Guid(Chain.Value);
        w.Byte((byte)Mode);
        w.Version(Token);
        w.Int32(MaxAhead);
        w.Int32(MaxAge);
        w.Bool(WithValues);
        w.Array(Keys, static (ref w, key) => w.Key(key));
    }

    /// <summary>Values are not copied.</summary>
    public override bool AnswerKeepsInput() => true;

    internal static ReadObjectsRequest Read(Epoch epoch, ref WireReader r)
    {
        var chain = new ChainId(r.Guid());
        var mode = (ObjectReadMode)r.Byte();
        if (mode > ObjectReadMode.Eventual) throw new MalformedDataException("A read mode is unknown.");
        var (token, ahead, age, values) = (r.Version(), r.Int32(), r.Int32(), r.Bool());
        if (ahead < 0 || age < 0) throw new MalformedDataException("A read's bound is negative.");
        return new ReadObjectsRequest(
            epoch, chain, mode, r.Array(5, static (ref r) => r.Key(), MaxKeys), token, ahead, age, values);
    }

    public override Response ReadResponse(Status status, Epoch epoch, ref WireReader r) =>
        new ReadObjectsResponse(status, epoch)
        {
            Mark = status == Status.Ok ? r.Version() : default,
            Age = status == Status.Ok ? r.Int64() : -1,
            Objects = status == Status.Ok ? r.Array(ObjectResult.SmallestSize, ObjectResult.Read, MaxKeys) : [],
            View = ChainAnswer.ReadView(status, ref r),
        };

    public override Response Fail(Status status, Epoch epoch) => new ReadObjectsResponse(status, epoch);
}

/// <summary>The objects, a prefix of the keys asked for.</summary>
public sealed record ReadObjectsResponse(Status Status, Epoch Epoch) : Response(Status, Epoch)
{
    /// <summary>Everything up to it was known to be committed: a session's next token.</summary>
    public ObjectVersion Mark { get; init; }

    /// <summary>Milliseconds since the node last proved that its epoch is the newest; -1: not in this epoch.</summary>
    public long Age { get; init; } = -1;

    public ImmutableArray<ObjectResult> Objects { get; init; } = [];

    /// <summary>With <see cref="Status.Sealed"/> and <see cref="CraqStatus.WrongRole"/>, if the node has one.</summary>
    public ChainView? View { get; init; }

    public override void WriteBody(ref WireWriter w)
    {
        if (IsOk)
        {
            w.Version(Mark);
            w.Int64(Age);
            w.Array(Objects, static (ref w, found) => found.Write(ref w));
        }

        ChainAnswer.WriteView(Status, View, ref w);
    }
}

/// <summary>An object of a read answer.</summary>
/// <param name="Status">Ok, <see cref="CraqStatus.NotFound"/>, or <see cref="Status.Corrupt"/>.</param>
/// <param name="Version">An absent object has the version that deleted it, if that is still known.</param>
/// <param name="IsDirty">The version was not known to be committed.</param>
/// <param name="Length">The length of the value, also where the value is not asked for.</param>
public readonly record struct ObjectResult(Status Status, ObjectVersion Version, bool IsDirty, uint Flags, long Expiry,
    int Length, ReadOnlyMemory<byte> Value)
{
    internal const int SmallestSize = 1 + 8 + 1 + 4 + 8 + 4 + 4;

    public bool IsFound => Status == Status.Ok;

    internal void Write(ref WireWriter w)
    {
        w.Byte((byte)Status);
        w.Version(Version);
        w.Bool(IsDirty);
        w.UInt32(Flags);
        w.Int64(Expiry);
        w.Int32(Length);
        w.Bytes(Value.Span);
    }

    internal static ObjectResult Read(ref WireReader r) =>
        new((Status)r.Byte(), r.Version(), r.Bool(), r.UInt32(), r.Int64(), r.Int32(), r.Bytes());
}
