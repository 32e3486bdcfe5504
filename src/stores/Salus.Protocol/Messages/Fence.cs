namespace Salus.Protocol;

/// <summary>Down the chain of members: lower runs are refused from here on, and this is what the region has of them
/// (S12). Ordered behind all records up to an index. Idempotent.</summary>
/// <param name="Report">The report that the members before the receiver have signed.</param>
/// <param name="Index">The last record of the region.</param>
/// <param name="Chain">The chain up to it.</param>
/// <param name="Signatures">From the members before the receiver, over the report.</param>
public sealed record FenceRequest(Epoch Epoch, RegionKey Region, RegionReport Report, long Index, Hash128 Chain,
    ImmutableArray<WeakSignature> Signatures) : Request<FenceResponse>(SalusOpcode.Fence, Epoch)
{
    public override void WriteBody(ref WireWriter w)
    {
        w.Region(Region);
        Report.Write(ref w);
        w.Int64(Index);
        w.Hash(Chain);
        w.Signatures(Signatures);
    }

    internal static FenceRequest Read(Epoch epoch, ref WireReader r) =>
        new(epoch, r.Region(), RegionReport.Read(ref r), r.Number(), r.Hash(), r.Signatures());

    public override Response ReadResponse(Status status, Epoch epoch, ref WireReader r) => status switch
    {
        Status.Ok => new FenceResponse(status, epoch) { Signatures = r.Signatures() },
        SalusStatus.Gap => new FenceResponse(status, epoch) { LastIndex = r.Number() },
        SalusStatus.Behind => new FenceResponse(status, epoch) { Commit = CommitProof.ReadOptional(ref r) },
        _ => Fail(status, epoch),
    };

    public override Response Fail(Status status, Epoch epoch) => new FenceResponse(status, epoch);
}

/// <summary>Ok: signed by the receiver and all members behind it. <see cref="SalusStatus.Gap"/>: records are missing
/// there. <see cref="SalusStatus.Behind"/>: a member knows of a higher proof than the report has.</summary>
public sealed record FenceResponse(Status Status, Epoch Epoch) : Response(Status, Epoch)
{
    public ImmutableArray<WeakSignature> Signatures { get; init; } = [];

    /// <summary>With <see cref="SalusStatus.Gap"/>: the last index that the member has.</summary>
    public long LastIndex { get; init; }

    /// <summary>With <see cref="SalusStatus.Behind"/>: the higher proof.</summary>
    public CommitProof? Commit { get; init; }

    public override void WriteBody(ref WireWriter w)
    {
        if (IsOk) w.Signatures(Signatures);
        if (Status == SalusStatus.Gap) w.Int64(LastIndex);
        if (Status == SalusStatus.Behind) CommitProof.WriteOptional(ref w, Commit);
    }
}
