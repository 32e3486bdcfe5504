namespace Salus.Protocol;

/// <summary>The driver asks a primary for a checkpoint, so that the volume's stable point moves on (S19), or before it
/// leaves. Ok: a <see cref="CutRecord"/> is proposed, or nothing is there to be cut.</summary>
public sealed record CutRequest(Epoch Epoch, RegionKey Region) : AckRequest(SalusOpcode.Cut, Epoch)
{
    public override void WriteBody(ref WireWriter w) => w.Region(Region);

    internal static CutRequest Read(Epoch epoch, ref WireReader r) => new(epoch, r.Region());
}
