namespace Salus.Protocol;

/// <summary>A participant's vote, to the primary of the batch's leader: all members of the region have the sub-batch
/// durable (S3). Its generation is the leader's; the vote has that of the participant.</summary>
public sealed record VoteRequest(Epoch Epoch, RegionKey Leader, BatchName Batch, RegionVote Vote)
    : Request<CommitResponse>(SalusOpcode.Vote, Epoch)
{
    public override void WriteBody(ref WireWriter w)
    {
        w.Region(Leader);
        Batch.Write(ref w);
        Vote.Write(ref w);
    }

    internal static VoteRequest Read(Epoch epoch, ref WireReader r) =>
        new(epoch, r.Region(), BatchName.Read(ref r), RegionVote.Read(ref r));

    public override Response ReadResponse(Status status, Epoch epoch, ref WireReader r) =>
        CommitResponse.Read(status, epoch, ref r);

    public override Response Fail(Status status, Epoch epoch) => new CommitResponse(status, epoch);
}

/// <summary>The certificate that a sub-batch is prepared.</summary>
/// <param name="Region">The participant.</param>
public sealed record RegionVote(int Region, Certificate Certificate)
{
    internal const int SmallestSize = 4 + Certificate.SmallestSize;

    internal void Write(ref WireWriter w)
    {
        w.Int32(Region);
        Certificate.Write(ref w);
    }

    internal static RegionVote Read(ref WireReader r) => new(r.RegionNumber(), Certificate.Read(ref r));
}

/// <summary>Ok: a proof that the batch asked for is committed, with all before it. <see cref="SalusStatus.Pending"/>:
/// it is not yet.</summary>
public sealed record CommitResponse(Status Status, Epoch Epoch) : Response(Status, Epoch)
{
    public CommitProof? Commit { get; init; }

    public override void WriteBody(ref WireWriter w)
    {
        if (IsOk) CommitProof.WriteOptional(ref w, Commit);
    }

    internal static CommitResponse Read(Status status, Epoch epoch, ref WireReader r) => new(status, epoch)
    {
        Commit = status == Status.Ok ? CommitProof.ReadOptional(ref r) : null,
    };
}
