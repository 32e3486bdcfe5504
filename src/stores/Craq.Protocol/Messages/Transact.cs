namespace Craq.Protocol;

/// <summary>Mutations of several chains as one step: all or nothing, and strictly serializable with other transactions
/// and writes (CRAQ 4.1.3). Sent to the head of the first part's chain, its lead.</summary>
/// <param name="Id">Random with each transaction: a repeated request has the same one, and the same parts.</param>
/// <param name="Parts">In the order of their chains' ids, one for each chain.</param>
public sealed record TransactRequest(Epoch Epoch, Guid Id, ImmutableArray<TransactPart> Parts)
    : Request<TransactResponse>(CraqOpcode.Transact, Epoch)
{
    public const int MaxParts = 64;

    public override void WriteBody(ref WireWriter w)
    {
        w.Guid(Id);
        w.Array(Parts, static (ref w, part) => part.Write(ref w));
    }

    public override bool AnswerKeepsInput() => true;

    internal static TransactRequest Read(Epoch epoch, ref WireReader r)
    {
        var id = r.Guid();
        var parts = r.Array(TransactPart.SmallestSize, TransactPart.Read, MaxParts);
        if (parts.IsEmpty || id == Guid.Empty) throw new MalformedDataException("A transaction has no part or no id.");
        for (var i = 1; i < parts.Length; i++)
        {
            if (parts[i - 1].Chain.CompareTo(parts[i].Chain) >= 0)
                throw new MalformedDataException("The parts of a transaction are not in the order of their chains.");
        }

        return new TransactRequest(epoch, id, parts);
    }

    public override Response ReadResponse(Status status, Epoch epoch, ref WireReader r) => status == Status.Ok
        ? TransactResponse.Read(epoch, ref r)
        : new TransactResponse(status, epoch) { View = ChainAnswer.ReadView(status, ref r) };

    public override Response Fail(Status status, Epoch epoch) => new TransactResponse(status, epoch);
}

/// <summary>The outcome of a transaction. <see cref="CraqStatus.Unconfirmed"/>: unknown to this lead, for now. Every
/// other status than Ok says that this request did nothing and will do nothing.</summary>
public sealed record TransactResponse(Status Status, Epoch Epoch) : Response(Status, Epoch)
{
    public bool IsCommitted { get; init; }

    /// <summary>Committed: the parts, in the order of the request.</summary>
    public ImmutableArray<CommittedPart> Parts { get; init; } = [];

    /// <summary>Aborted: the part that refused, and why. <see cref="CraqStatus.Mismatch"/>,
    /// <see cref="CraqStatus.Locked"/>, or the status for which its chain gave no vote.</summary>
    public int Part { get; init; }

    /// <inheritdoc cref="Part"/>
    public Status Reason { get; init; }

    /// <summary>The test that failed, after a mismatch, as <see cref="MutateResponse.Index"/>.</summary>
    public int Index { get; init; }

    /// <summary>The version of the object that did not fit, after a mismatch.</summary>
    public ObjectVersion Found { get; init; }

    public ChainView? View { get; init; }

    public override void WriteBody(ref WireWriter w)
    {
        if (IsOk)
        {
            w.Bool(IsCommitted);
            w.Array(Parts, static (ref w, part) => part.Write(ref w));
            w.Int32(Part);
            w.Byte((byte)Reason);
            w.Int32(Index);
            w.Version(Found);
        }

        ChainAnswer.WriteView(Status, View, ref w);
    }

    internal static TransactResponse Read(Epoch epoch, ref WireReader r) => new(Status.Ok, epoch)
    {
        IsCommitted = r.Bool(),
        Parts = r.Array(CommittedPart.SmallestSize, CommittedPart.Read, TransactRequest.MaxParts),
        Part = r.Int32(),
        Reason = (Status)r.Byte(),
        Index = r.Int32(),
        Found = r.Version(),
    };
}

/// <summary>A committed part.</summary>
/// <param name="Version">The version of its writes; without writes, of the record that ended its lock.</param>
public sealed record CommittedPart(ObjectVersion Version, ObjectVersion Mark, MutateResult Result)
{
    internal const int SmallestSize = 8 + 8 + 8;

    internal void Write(ref WireWriter w)
    {
        w.Version(Version);
        w.Version(Mark);
        Result.Write(ref w);
    }

    internal static CommittedPart Read(ref WireReader r) => new(r.Version(), r.Version(), MutateResult.Read(ref r));
}
