namespace Salus.Protocol;

/// <summary>Asks a member for the roots of its region, batch by batch, from the checkpoint that the stable point has
/// reached. A writer asks where the roots of the regions do not make the root of the volume.</summary>
/// <param name="Run">The run that the region has opened at, as of <see cref="RegionStatusRequest"/>.</param>
public sealed record RegionHistoryRequest(Epoch Epoch, RegionKey Region, long Run)
    : Request<RegionHistoryResponse>(SalusOpcode.RegionHistory, Epoch)
{
    /// <summary>Batches of an answer: 64 bytes each, so that all fit into a frame.</summary>
    public const int MaxBatches = 1 << 16;

    public override void WriteBody(ref WireWriter w)
    {
        w.Region(Region);
        w.Int64(Run);
    }

    internal static RegionHistoryRequest Read(Epoch epoch, ref WireReader r) => new(epoch, r.Region(), r.Number());

    public override Response ReadResponse(Status status, Epoch epoch, ref WireReader r) => status == Status.Ok
        ? new RegionHistoryResponse(status, epoch)
        {
            Base = BatchName.Read(ref r),
            BaseRoot = r.Hash(),
            Batches = r.Array(RegionBatch.Size, RegionBatch.Read, MaxBatches),
        }
        : Fail(status, epoch);

    public override Response Fail(Status status, Epoch epoch) => new RegionHistoryResponse(status, epoch);
}

/// <summary>The batches of a region that are not void.</summary>
public sealed record RegionHistoryResponse(Status Status, Epoch Epoch) : Response(Status, Epoch)
{
    /// <summary>The region's last batch below the first one here; none: there is none. The digest may be
    /// missing.</summary>
    public BatchName Base { get; init; }

    /// <summary>The region's root after <see cref="Base"/>.</summary>
    public Hash128 BaseRoot { get; init; }

    /// <summary>Ascending, each behind the one before it.</summary>
    public ImmutableArray<RegionBatch> Batches { get; init; } = [];

    public override void WriteBody(ref WireWriter w)
    {
        if (!IsOk) return;
        Base.Write(ref w);
        w.Hash(BaseRoot);
        w.Array(Batches, static (ref w, batch) => batch.Write(ref w));
    }
}

/// <summary>A batch as one region has it.</summary>
/// <param name="Root">The region's root after the batch.</param>
/// <param name="VolumeRoot">The volume's root after the batch.</param>
public readonly record struct RegionBatch(BatchName Name, Hash128 Root, Hash128 VolumeRoot)
{
    internal const int Size = 8 + 8 + (3 * Hash128.Size);

    internal void Write(ref WireWriter w)
    {
        Name.Write(ref w);
        w.Hash(Root);
        w.Hash(VolumeRoot);
    }

    internal static RegionBatch Read(ref WireReader r) => new(BatchName.Read(ref r), r.Hash(), r.Hash());
}
