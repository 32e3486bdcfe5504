namespace Salus.Protocol;

/// <summary>Reads blocks of a region at one member, up to 1 MiB. The member applies the region's last batch before it
/// answers (S14).</summary>
/// <param name="First">The first block, within the region.</param>
/// <param name="Last">The number of the region's last batch that the driver knows committed; 0: none.</param>
/// <param name="Commit">The proof of it.</param>
/// <param name="Snapshot">Reads the region as of this checkpoint, a kept one; 0: as of the last batch.</param>
public sealed record GetRequest(Epoch Epoch, RegionKey Region, int First, int Count, long Last, CommitProof? Commit,
    long Snapshot = 0) : Request<GetResponse>(SalusOpcode.Get, Epoch)
{
    /// <summary>Blocks of one request, in the smallest size.</summary>
    public const int MaxBlocks = BatchLimits.MaxPayload / VolumeGeometry.MinBlockSize;

    public override bool AnswerKeepsInput() => true;

    public override void WriteBody(ref WireWriter w)
    {
        w.Region(Region);
        w.Int32(First);
        w.Int32(Count);
        w.Int64(Last);
        CommitProof.WriteOptional(ref w, Commit);
        w.Int64(Snapshot);
    }

    internal static GetRequest Read(Epoch epoch, ref WireReader r)
    {
        var request = new GetRequest(
            epoch, r.Region(), r.BlockNumber(), r.Int32(), r.Number(), CommitProof.ReadOptional(ref r),
            r.Number());
        return request.Count is > 0 and <= MaxBlocks
            && request.Count <= VolumeGeometry.MaxRegionBlocks - request.First
            ? request
            : throw new MalformedDataException("A read has no blocks, or too many.");
    }

    public override Response ReadResponse(Status status, Epoch epoch, ref WireReader r) => status == Status.Ok
        ? new GetResponse(status, epoch) { Blocks = r.Array(4, static (ref r) => r.Bytes(), MaxBlocks) }
        : Fail(status, epoch);

    public override Response Fail(Status status, Epoch epoch) => new GetResponse(status, epoch);
}

/// <summary>The blocks, in order. <see cref="Status.Corrupt"/>: the member found damage of its own;
/// <see cref="SalusStatus.Behind"/>: it cannot apply the batch yet.</summary>
public sealed record GetResponse(Status Status, Epoch Epoch) : Response(Status, Epoch)
{
    /// <summary>The data of each block; no bytes: it is empty.</summary>
    public ImmutableArray<ReadOnlyMemory<byte>> Blocks { get; init; } = [];

    public override void WriteBody(ref WireWriter w)
    {
        if (IsOk) w.Array(Blocks, static (ref w, block) => w.Bytes(block.Span));
    }
}
