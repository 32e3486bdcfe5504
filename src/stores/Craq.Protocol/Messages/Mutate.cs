namespace Craq.Protocol;

/// <summary>Compares, reads and writes objects of one chain, in one step at the head (CRAQ 4.1).</summary>
/// <param name="NotBefore">A mark that the client knew before it first sent the request: a window whose floor is above
/// it cannot say whether the request was applied.</param>
/// <param name="AtHead">Answer as soon as the record is durable at the head: its version is not committed yet.</param>
public sealed record MutateRequest(Epoch Epoch, ChainId Chain, WriteId Id, ObjectVersion NotBefore, bool AtHead,
    ImmutableArray<ObjectCompare> Compares, ImmutableArray<ObjectKey> Reads, ImmutableArray<ObjectOperation> Operations)
    : Request<MutateResponse>(CraqOpcode.Mutate, Epoch)
{
    public const int MaxItems = 1024;

    public override void WriteBody(ref WireWriter w)
    {
        w.Guid(Chain.Value);
        w.Id(Id);
        w.Version(NotBefore);
        w.Bool(AtHead);
        w.Array(Compares, static (ref w, compare) => compare.Write(ref w));
        w.Array(Reads, static (ref w, key) => w.Key(key));
        w.Array(Operations, static (ref w, operation) => operation.Write(ref w));
    }

    public override bool AnswerKeepsInput() => true;

    internal static MutateRequest Read(Epoch epoch, ref WireReader r) => new(epoch, new ChainId(r.Guid()), r.Id(),
        r.Version(), r.Bool(), r.Array(ObjectCompare.SmallestSize, ObjectCompare.Read, MaxItems),
        r.Array(5, static (ref r) => r.Key(), MaxItems),
        r.Array(ObjectOperation.SmallestSize, ObjectOperation.Read, MaxItems));

    public override Response ReadResponse(Status status, Epoch epoch, ref WireReader r) => status switch
    {
        Status.Ok => new MutateResponse(status, epoch)
        {
            Version = r.Version(),
            Mark = r.Version(),
            Result = MutateResult.Read(ref r),
        },
        CraqStatus.Mismatch => new MutateResponse(status, epoch)
        {
            Version = r.Version(),
            Mark = r.Version(),
            Index = r.Int32(),
        },
        _ => new MutateResponse(status, epoch) { View = ChainAnswer.ReadView(status, ref r) },
    };

    public override Response Fail(Status status, Epoch epoch) => new MutateResponse(status, epoch);
}

/// <summary>The outcome of a mutation.</summary>
public sealed record MutateResponse(Status Status, Epoch Epoch) : Response(Status, Epoch)
{
    /// <summary>The version that was written, or with <see cref="CraqStatus.Mismatch"/> that of the object which did
    /// not compare.</summary>
    public ObjectVersion Version { get; init; }

    /// <summary>Everything up to it was committed when the answer was made.</summary>
    public ObjectVersion Mark { get; init; }

    public MutateResult Result { get; init; } = MutateResult.Empty;

    /// <summary>With <see cref="CraqStatus.Mismatch"/>: the compare that failed; behind the last compare, the operation
    /// that did not fit its object.</summary>
    public int Index { get; init; }

    public ChainView? View { get; init; }

    public override void WriteBody(ref WireWriter w)
    {
        if (Status is Status.Ok or CraqStatus.Mismatch)
        {
            w.Version(Version);
            w.Version(Mark);
        }

        if (IsOk) Result.Write(ref w);
        if (Status == CraqStatus.Mismatch) w.Int32(Index);
        ChainAnswer.WriteView(Status, View, ref w);
    }
}

/// <summary>The reads and sums of a mutation; kept in its record for repeated requests.</summary>
/// <param name="Reads">In the order of the request's reads, as they were before the writes.</param>
/// <param name="Sums">The results of the <see cref="ObjectOperationKind.Add"/> operations, in order.</param>
public sealed record MutateResult(ImmutableArray<ObjectResult> Reads, ImmutableArray<ulong> Sums)
{
    public static MutateResult Empty { get; } = new([], []);

    public bool IsEmpty => Reads.IsEmpty && Sums.IsEmpty;

    public void Write(ref WireWriter w)
    {
        w.Array(Reads, static (ref w, found) => found.Write(ref w));
        w.Array(Sums, static (ref w, sum) => w.UInt64(sum));
    }

    /// <summary>Values are slices of the reader's input.</summary>
    public static MutateResult Read(ref WireReader r)
    {
        var reads = r.Array(ObjectResult.SmallestSize, ObjectResult.Read, MutateRequest.MaxItems);
        var sums = r.Array(8, static (ref r) => r.UInt64(), MutateRequest.MaxItems);
        return reads.IsEmpty && sums.IsEmpty ? Empty : new MutateResult(reads, sums);
    }
}

/// <summary>A condition on one object; the newest version counts, committed or not.</summary>
public readonly record struct ObjectCompare(ObjectKey Key, ObjectCompareKind Kind, ObjectVersion Version,
    ReadOnlyMemory<byte> Value)
{
    internal const int SmallestSize = 5 + 1 + 8 + 4;

    internal void Write(ref WireWriter w)
    {
        w.Key(Key);
        w.Byte((byte)Kind);
        w.Version(Version);
        w.Bytes(Value.Span);
    }

    internal static ObjectCompare Read(ref WireReader r)
    {
        var key = r.Key();
        var kind = (ObjectCompareKind)r.Byte();
        return kind is ObjectCompareKind.None or > ObjectCompareKind.Value
            ? throw new MalformedDataException("A compare is unknown.")
            : new ObjectCompare(key, kind, r.Version(), r.Bytes());
    }
}

/// <summary>Numbers are part of the wire format.</summary>
public enum ObjectCompareKind : byte
{
    None = 0,

    /// <summary>The object has exactly this version; none: it is absent.</summary>
    Version = 1,

    Exists = 2,
    Absent = 3,

    /// <summary>The object has exactly this value.</summary>
    Value = 4,
}

/// <summary>A write of one object, evaluated at the head.</summary>
/// <param name="Expiry">As in <see cref="ObjectWrite"/>; 0: never. <see cref="KeepExpiry"/>: as before.</param>
/// <param name="Delta">The number that Add adds: with wrap at 2^64 upwards, and a stop at 0 downwards.</param>
public readonly record struct ObjectOperation(ObjectOperationKind Kind, ObjectKey Key, uint Flags, long Expiry,
    ReadOnlyMemory<byte> Value, long Delta = 0)
{
    public const long KeepExpiry = -1;

    internal const int SmallestSize = 1 + 5 + 4 + 8 + 8 + 4;

    internal void Write(ref WireWriter w)
    {
        w.Byte((byte)Kind);
        w.Key(Key);
        w.UInt32(Flags);
        w.Int64(Expiry);
        w.Int64(Delta);
        w.Bytes(Value.Span);
    }

    internal static ObjectOperation Read(ref WireReader r)
    {
        var kind = (ObjectOperationKind)r.Byte();
        if (kind is ObjectOperationKind.None or > ObjectOperationKind.Clear)
            throw new MalformedDataException("An operation is unknown.");
        var (key, flags, expiry, delta, value) = (r.Key(), r.UInt32(), r.Int64(), r.Int64(), r.Bytes());
        return new ObjectOperation(kind, key, flags, expiry, value, delta);
    }
}

/// <summary>Numbers are part of the wire format.</summary>
public enum ObjectOperationKind : byte
{
    None = 0,
    Put = 1,

    /// <summary>The end of the object; absent: a mismatch.</summary>
    Delete = 2,

    /// <summary>Behind the value that is there; absent: a mismatch.</summary>
    Append = 3,

    /// <summary>Before the value that is there; absent: a mismatch.</summary>
    Prepend = 4,

    /// <summary>Decimal text plus the delta; absent, or not a number of 64 bits: a mismatch.</summary>
    Add = 5,

    /// <summary>A new expiry of the object; absent: a mismatch.</summary>
    Touch = 6,

    /// <summary>Deletes all objects of the chain; alone in its request. The key does not count.</summary>
    Clear = 7,
}
