namespace Salus.Protocol;

/// <summary>A decision down the chain of the leader's members, with all that each of them verifies (S4).</summary>
/// <param name="Batches">All batches since the last decision that this region leads, ascending; all batches up to the
/// last one are committed.</param>
/// <param name="Predecessor">The proof that everything before the first one is committed; null: the run begins
/// there.</param>
/// <param name="Signatures">The signatures of the members before the receiver, over the statement that the last batch
/// is committed.</param>
public sealed record DecideRequest(Epoch Epoch, RegionKey Leader, ImmutableArray<DecidedBatch> Batches,
    CommitProof? Predecessor, ImmutableArray<WeakSignature> Signatures)
    : Request<DecideResponse>(SalusOpcode.Decide, Epoch)
{
    /// <summary>More than a window of batches.</summary>
    public const int MaxBatches = 64;

    public override void WriteBody(ref WireWriter w)
    {
        w.Region(Leader);
        w.Array(Batches, static (ref w, batch) => batch.Write(ref w));
        CommitProof.WriteOptional(ref w, Predecessor);
        w.Signatures(Signatures);
    }

    internal static DecideRequest Read(Epoch epoch, ref WireReader r)
    {
        var request = new DecideRequest(epoch, r.Region(),
            r.Array(DecidedBatch.SmallestSize, DecidedBatch.Read, MaxBatches), CommitProof.ReadOptional(ref r),
            r.Signatures());
        return request.Batches.IsEmpty
            ? throw new MalformedDataException("A decision has no batch.")
            : request;
    }

    public override Response ReadResponse(Status status, Epoch epoch, ref WireReader r) =>
        new DecideResponse(status, epoch) { Signatures = status == Status.Ok ? r.Signatures() : [] };

    public override Response Fail(Status status, Epoch epoch) => new DecideResponse(status, epoch);
}

/// <summary>A batch with the votes of all its participants.</summary>
public sealed record DecidedBatch(BatchHeader Header, ImmutableArray<RegionVote> Votes)
{
    internal const int SmallestSize = 4 + 4;

    internal void Write(ref WireWriter w)
    {
        w.Bytes(Header.Encode());
        w.Array(Votes, static (ref w, vote) => vote.Write(ref w));
    }

    internal static DecidedBatch Read(ref WireReader r) => new(BatchHeader.Decode(r.Bytes()),
        r.Array(RegionVote.SmallestSize, RegionVote.Read, BatchLimits.MaxParticipants));
}

/// <summary>The signatures of the receiver and of the members behind it.</summary>
public sealed record DecideResponse(Status Status, Epoch Epoch) : Response(Status, Epoch)
{
    public ImmutableArray<WeakSignature> Signatures { get; init; } = [];

    public override void WriteBody(ref WireWriter w)
    {
        if (IsOk) w.Signatures(Signatures);
    }
}
