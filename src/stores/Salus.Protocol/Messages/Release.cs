namespace Salus.Protocol;

/// <summary>Down the chain of members: what may go of the region's files and records, which each compares with what the
/// log of the cluster keeps (S19). Nothing goes before all have signed.</summary>
/// <param name="Checkpoint">The oldest checkpoint that stays, but for those of snapshots.</param>
/// <param name="Floor">Records up to this index may go.</param>
/// <param name="Signatures">From the members before the receiver.</param>
public sealed record ReleaseRequest(
    Epoch Epoch, RegionKey Region, long Checkpoint, long Floor, ImmutableArray<WeakSignature> Signatures)
    : Request<SignedResponse>(SalusOpcode.Release, Epoch)
{
    public override void WriteBody(ref WireWriter w)
    {
        w.Region(Region);
        w.Int64(Checkpoint);
        w.Int64(Floor);
        w.Signatures(Signatures);
    }

    internal static ReleaseRequest Read(Epoch epoch, ref WireReader r) =>
        new(epoch, r.Region(), r.Number(), r.Number(), r.Signatures());

    public override Response ReadResponse(Status status, Epoch epoch, ref WireReader r) =>
        SignedResponse.Read(status, epoch, ref r);

    public override Response Fail(Status status, Epoch epoch) => new SignedResponse(status, epoch);
}
