namespace Salus.Protocol;

/// <summary>A sub-batch from the driver to its region's primary. Answered when it is prepared; by the leader when all
/// batches up to it are committed. Idempotent.</summary>
/// <param name="Batch">An encoded <see cref="SubBatch"/>; at the receiver a slice of the connection's buffer.</param>
/// <param name="Commit">The newest proof that the driver has.</param>
public sealed record PutBatchRequest(Epoch Epoch, RegionKey Region, ReadOnlyMemory<byte> Batch, CommitProof? Commit)
    : Request<PutBatchResponse>(SalusOpcode.PutBatch, Epoch)
{
    public override void WriteBody(ref WireWriter w)
    {
        w.Region(Region);
        w.Bytes(Batch.Span);
        CommitProof.WriteOptional(ref w, Commit);
    }

    internal static PutBatchRequest Read(Epoch epoch, ref WireReader r) =>
        new(epoch, r.Region(), r.Bytes(), CommitProof.ReadOptional(ref r));

    public override Response ReadResponse(Status status, Epoch epoch, ref WireReader r) => PutBatchResponse.Has(status)
        ? new PutBatchResponse(status, epoch)
        {
            Last = BatchName.Read(ref r),
            Free = r.Number(),
            Commit = CommitProof.ReadOptional(ref r),
        }
        : Fail(status, epoch);

    public override Response Fail(Status status, Epoch epoch) => new PutBatchResponse(status, epoch);
}

/// <summary>Ok: prepared. <see cref="SalusStatus.Pending"/>: prepared at the leader, and not committed yet.
/// <see cref="SalusStatus.Gap"/>: batches before it are missing. Each says what the region has.</summary>
public sealed record PutBatchResponse(Status Status, Epoch Epoch) : Response(Status, Epoch)
{
    /// <summary>The last batch that the region has accepted.</summary>
    public BatchName Last { get; init; }

    /// <summary>Bytes that the fullest member takes before it refuses.</summary>
    public long Free { get; init; }

    public CommitProof? Commit { get; init; }

    public override void WriteBody(ref WireWriter w)
    {
        if (!Has(Status)) return;
        Last.Write(ref w);
        w.Int64(Free);
        CommitProof.WriteOptional(ref w, Commit);
    }

    internal static bool Has(Status status) =>
        status is Status.Ok or Status.NoSpace or SalusStatus.Pending or SalusStatus.Gap;
}
