namespace Salus.Protocol;

/// <summary>Reads the hash tree of a region at one member: the hashes of all pages, or the leaves of some.</summary>
/// <param name="Pages">Pages whose leaves are asked for; none: the page hashes.</param>
/// <param name="Last">As of <see cref="GetRequest"/>.</param>
/// <param name="Snapshot">As of <see cref="GetRequest"/>.</param>
public sealed record ReadTreeRequest(Epoch Epoch, RegionKey Region, ImmutableArray<int> Pages, long Last,
    CommitProof? Commit, long Snapshot = 0) : Request<ReadTreeResponse>(SalusOpcode.ReadTree, Epoch)
{
    public const int MaxPages = 64;

    /// <summary>Pages of the largest region.</summary>
    public const int AllPages = VolumeGeometry.MaxRegionBlocks / VolumeGeometry.PageBlocks;

    public override void WriteBody(ref WireWriter w)
    {
        w.Region(Region);
        w.Array(Pages, static (ref w, page) => w.Int32(page));
        w.Int64(Last);
        CommitProof.WriteOptional(ref w, Commit);
        w.Int64(Snapshot);
    }

    internal static ReadTreeRequest Read(Epoch epoch, ref WireReader r) => new(epoch, r.Region(),
        r.Array(4, ReadPage, MaxPages), r.Number(), CommitProof.ReadOptional(ref r), r.Number());

    public override Response ReadResponse(Status status, Epoch epoch, ref WireReader r) => status == Status.Ok
        ? new ReadTreeResponse(status, epoch)
        {
            Batch = BatchName.Read(ref r),
            PageHashes = r.Hashes(AllPages),
            Pages = r.Array(4, static (ref r) => r.Hashes(TreePage.Leaves), MaxPages),
        }
        : Fail(status, epoch);

    public override Response Fail(Status status, Epoch epoch) => new ReadTreeResponse(status, epoch);

    private static int ReadPage(ref WireReader r)
    {
        var page = r.Int32();
        return page is >= 0 and < AllPages
            ? page
            : throw new MalformedDataException($"A region has no page {page}.");
    }
}

/// <summary>The tree as of a batch.</summary>
public sealed record ReadTreeResponse(Status Status, Epoch Epoch) : Response(Status, Epoch)
{
    /// <summary>The region's last batch that is applied.</summary>
    public BatchName Batch { get; init; }

    /// <summary>All pages, where none was named.</summary>
    public ImmutableArray<Hash128> PageHashes { get; init; } = [];

    /// <summary>The leaves of the pages that were named, in their order, without the empty ones at their
    /// ends.</summary>
    public ImmutableArray<ImmutableArray<Hash128>> Pages { get; init; } = [];

    public override void WriteBody(ref WireWriter w)
    {
        if (!IsOk) return;
        Batch.Write(ref w);
        w.Hashes(PageHashes);
        w.Array(Pages, static (ref w, page) => w.Hashes(page));
    }
}
