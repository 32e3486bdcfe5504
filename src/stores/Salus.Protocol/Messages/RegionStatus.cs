namespace Salus.Protocol;

/// <summary>The driver asks any member how far its region is.</summary>
/// <param name="Run">Above the run that the region has opened at, the answer is
/// <see cref="SalusStatus.Pending"/>.</param>
/// <param name="Oldest">The oldest batch that the driver has no outcome of.</param>
public sealed record RegionStatusRequest(Epoch Epoch, RegionKey Region, long Run, long Oldest)
    : Request<RegionStatusResponse>(SalusOpcode.RegionStatus, Epoch)
{
    public override void WriteBody(ref WireWriter w)
    {
        w.Region(Region);
        w.Int64(Run);
        w.Int64(Oldest);
    }

    internal static RegionStatusRequest Read(Epoch epoch, ref WireReader r) =>
        new(epoch, r.Region(), r.Number(), r.Number());

    public override Response ReadResponse(Status status, Epoch epoch, ref WireReader r) => status == Status.Ok
        ? new RegionStatusResponse(status, epoch)
        {
            LastIndex = r.Number(),
            Last = BatchName.Read(ref r),
            Root = r.Hash(),
            Commit = CommitProof.ReadOptional(ref r),
            Wait = (RegionWait)r.Byte(),
        }
        : Fail(status, epoch);

    public override Response Fail(Status status, Epoch epoch) => new RegionStatusResponse(status, epoch);
}

/// <summary>A member's knowledge of its region.</summary>
public sealed record RegionStatusResponse(Status Status, Epoch Epoch) : Response(Status, Epoch)
{
    public long LastIndex { get; init; }

    /// <summary>The last batch in its log.</summary>
    public BatchName Last { get; init; }

    /// <summary>The region's root after that batch.</summary>
    public Hash128 Root { get; init; }

    public CommitProof? Commit { get; init; }

    public RegionWait Wait { get; init; }

    public override void WriteBody(ref WireWriter w)
    {
        if (!IsOk) return;
        w.Int64(LastIndex);
        Last.Write(ref w);
        w.Hash(Root);
        CommitProof.WriteOptional(ref w, Commit);
        w.Byte((byte)Wait);
    }
}

/// <summary>The reason why a batch goes no further at a member. Numbers are part of the wire format.</summary>
public enum RegionWait : byte
{
    None = 0,

    /// <summary>A batch of the region before it has not come.</summary>
    Batch = 1,

    /// <summary>Another member has not placed or prepared it.</summary>
    Members = 2,

    /// <summary>The leader has not decided.</summary>
    Leader = 3,

    /// <summary>At the leader: a participant has not voted.</summary>
    Votes = 4,

    /// <summary>At the leader: the batch before is not committed.</summary>
    Predecessor = 5,

    /// <summary>The generation is not admitted (S6).</summary>
    Admission = 6,
}
