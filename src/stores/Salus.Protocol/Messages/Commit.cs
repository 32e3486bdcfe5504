namespace Salus.Protocol;

/// <summary>A proof down the chain of a participant's members, where no record is about to bring it.</summary>
public sealed record CommitRequest(Epoch Epoch, RegionKey Region, CommitProof Commit)
    : AckRequest(SalusOpcode.Commit, Epoch)
{
    public override void WriteBody(ref WireWriter w)
    {
        w.Region(Region);
        Commit.Write(ref w);
    }

    internal static CommitRequest Read(Epoch epoch, ref WireReader r) =>
        new(epoch, r.Region(), CommitProof.Read(ref r));
}
