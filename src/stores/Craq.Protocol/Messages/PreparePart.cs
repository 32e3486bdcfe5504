namespace Craq.Protocol;

/// <summary>From a transaction's lead to the head of a part: evaluates it, locks its keys, and votes.</summary>
/// <param name="Parts">All parts, so that the head can end the transaction when its lead is gone.</param>
public sealed record PreparePartRequest(Epoch Epoch, Guid Transaction, ImmutableArray<PartId> Parts, TransactPart Part)
    : Request<PartResponse>(CraqOpcode.Prepare, Epoch)
{
    public override void WriteBody(ref WireWriter w)
    {
        w.Guid(Transaction);
        w.Array(Parts, PartId.Write);
        Part.Write(ref w);
    }

    public override bool AnswerKeepsInput() => true;

    internal static PreparePartRequest Read(Epoch epoch, ref WireReader r) =>
        new(epoch, r.Guid(), r.Array(PartId.Size, PartId.Read, TransactRequest.MaxParts), TransactPart.Read(ref r));

    public override Response ReadResponse(Status status, Epoch epoch, ref WireReader r) =>
        PartResponse.Read(status, epoch, ref r);

    public override Response Fail(Status status, Epoch epoch) => new PartResponse(status, epoch);
}

/// <summary>Tells the head of a part the transaction's outcome.</summary>
/// <param name="NotBefore">The part's.</param>
public sealed record SettlePartRequest(
    Epoch Epoch, ChainId Chain, Guid Transaction, ObjectVersion NotBefore, bool IsCommitted)
    : Request<PartResponse>(CraqOpcode.Settle, Epoch)
{
    public override void WriteBody(ref WireWriter w)
    {
        w.Guid(Chain.Value);
        w.Guid(Transaction);
        w.Version(NotBefore);
        w.Bool(IsCommitted);
    }

    public override bool AnswerKeepsInput() => true;

    internal static SettlePartRequest Read(Epoch epoch, ref WireReader r) =>
        new(epoch, new ChainId(r.Guid()), r.Guid(), r.Version(), r.Bool());

    public override Response ReadResponse(Status status, Epoch epoch, ref WireReader r) =>
        PartResponse.Read(status, epoch, ref r);

    public override Response Fail(Status status, Epoch epoch) => new PartResponse(status, epoch);
}

/// <summary>A part as its chain has it, committed there. Every other status than Ok says nothing of an earlier
/// request.</summary>
public sealed record PartResponse(Status Status, Epoch Epoch) : Response(Status, Epoch)
{
    public PartState State { get; init; }

    /// <summary>The version of the record that brought the part into this state.</summary>
    public ObjectVersion Version { get; init; }

    /// <summary>Everything up to it was committed when the answer was made.</summary>
    public ObjectVersion Mark { get; init; }

    /// <summary>The reason of an aborted part: <see cref="CraqStatus.Mismatch"/> or <see cref="CraqStatus.Locked"/>
    /// where the chain itself refused it; Ok: it was told.</summary>
    public Status Reason { get; init; }

    /// <summary>The test that failed, after a mismatch, as <see cref="MutateResponse.Index"/>.</summary>
    public int Index { get; init; }

    /// <summary>The version of the object that did not fit, after a mismatch.</summary>
    public ObjectVersion Found { get; init; }

    /// <summary>The reads and sums of the part; the reads are as of the lock.</summary>
    public MutateResult Result { get; init; } = MutateResult.Empty;

    public ChainView? View { get; init; }

    public override void WriteBody(ref WireWriter w)
    {
        if (IsOk)
        {
            w.Byte((byte)State);
            w.Version(Version);
            w.Version(Mark);
            w.Byte((byte)Reason);
            w.Int32(Index);
            w.Version(Found);
            Result.Write(ref w);
        }

        ChainAnswer.WriteView(Status, View, ref w);
    }

    internal static PartResponse Read(Status status, Epoch epoch, ref WireReader r) => status == Status.Ok
        ? new PartResponse(status, epoch)
        {
            State = StateOf(r.Byte()),
            Version = r.Version(),
            Mark = r.Version(),
            Reason = (Status)r.Byte(),
            Index = r.Int32(),
            Found = r.Version(),
            Result = MutateResult.Read(ref r),
        }
        : new PartResponse(status, epoch) { View = ChainAnswer.ReadView(status, ref r) };

    private static PartState StateOf(byte state) => (PartState)state is > PartState.None and <= PartState.Aborted
        ? (PartState)state
        : throw new MalformedDataException("The state of a part is unknown.");
}
