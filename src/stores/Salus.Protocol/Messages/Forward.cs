namespace Salus.Protocol;

/// <summary>A record of the region's log down the chain of members, with the signatures of those who have checked and
/// placed it. Idempotent by its index.</summary>
/// <param name="Signatures">From the members before the receiver, in their order, over
/// <see cref="RecordHead.Logged"/>.</param>
/// <param name="Content">At the receiver a slice of the connection's buffer.</param>
/// <param name="Commit">The newest proof that the sender has.</param>
public sealed record ForwardRequest(Epoch Epoch, RecordHead Head, ImmutableArray<WeakSignature> Signatures,
    ReadOnlyMemory<byte> Content, CommitProof? Commit) : Request<ForwardResponse>(SalusOpcode.Forward, Epoch)
{
    public override void WriteBody(ref WireWriter w)
    {
        Head.Write(ref w);
        w.Signatures(Signatures);
        w.Bytes(Content.Span);
        CommitProof.WriteOptional(ref w, Commit);
    }

    internal static ForwardRequest Read(Epoch epoch, ref WireReader r)
    {
        var request = new ForwardRequest(
            epoch, RecordHead.Read(ref r), r.Signatures(), r.Bytes(), CommitProof.ReadOptional(ref r));
        return request.Head.Generation == epoch
            ? request
            : throw new MalformedDataException("A record's generation is not its frame's.");
    }

    public override Response ReadResponse(Status status, Epoch epoch, ref WireReader r) => status switch
    {
        Status.Ok => new ForwardResponse(status, epoch) { Signatures = r.Signatures(), Free = r.Number() },
        SalusStatus.Gap => new ForwardResponse(status, epoch) { LastIndex = r.Number() },
        _ => Fail(status, epoch),
    };

    public override Response Fail(Status status, Epoch epoch) => new ForwardResponse(status, epoch);
}

/// <summary>The record has its place at the receiver and at all members behind it; it is not durable yet.</summary>
public sealed record ForwardResponse(Status Status, Epoch Epoch) : Response(Status, Epoch)
{
    /// <summary>Signatures of the receiver and the members behind it.</summary>
    public ImmutableArray<WeakSignature> Signatures { get; init; } = [];

    /// <summary>Bytes that the fullest of them takes before it refuses.</summary>
    public long Free { get; init; }

    /// <summary>With <see cref="SalusStatus.Gap"/>: the last index that the receiver has.</summary>
    public long LastIndex { get; init; }

    public override void WriteBody(ref WireWriter w)
    {
        if (Status == SalusStatus.Gap) w.Int64(LastIndex);
        if (!IsOk) return;
        w.Signatures(Signatures);
        w.Int64(Free);
    }
}
