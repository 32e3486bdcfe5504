namespace Salus.Protocol;

/// <summary>A member tells its primary that a checkpoint is durable in its store.</summary>
/// <param name="Signature">Over the statement of the checkpoint.</param>
public sealed record CheckpointedRequest(
    Epoch Epoch, RegionKey Region, CheckpointName Checkpoint, Incarnation Member, WeakSignature Signature)
    : AckRequest(SalusOpcode.Checkpointed, Epoch)
{
    public override void WriteBody(ref WireWriter w)
    {
        w.Region(Region);
        Checkpoint.Write(ref w);
        w.Guid(Member.Value);
        w.Hash(Signature.Value);
    }

    internal static CheckpointedRequest Read(Epoch epoch, ref WireReader r) => new(epoch, r.Region(),
        CheckpointName.Read(ref r), new Incarnation(r.Guid()), new WeakSignature(r.Hash()));
}
