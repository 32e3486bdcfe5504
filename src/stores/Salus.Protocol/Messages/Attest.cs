namespace Salus.Protocol;

/// <summary>Down the chain of members: the region's root at an index, which each compares with its own. Finds blocks
/// that differ in memory.</summary>
/// <param name="Root">The region's root behind that record.</param>
/// <param name="Signatures">From the members before the receiver.</param>
public sealed record AttestRequest(
    Epoch Epoch, RegionKey Region, long Index, Hash128 Root, ImmutableArray<WeakSignature> Signatures)
    : Request<SignedResponse>(SalusOpcode.Attest, Epoch)
{
    public override void WriteBody(ref WireWriter w)
    {
        w.Region(Region);
        w.Int64(Index);
        w.Hash(Root);
        w.Signatures(Signatures);
    }

    internal static AttestRequest Read(Epoch epoch, ref WireReader r) =>
        new(epoch, r.Region(), r.Number(), r.Hash(), r.Signatures());

    public override Response ReadResponse(Status status, Epoch epoch, ref WireReader r) =>
        SignedResponse.Read(status, epoch, ref r);

    public override Response Fail(Status status, Epoch epoch) => new SignedResponse(status, epoch);
}
