namespace Salus.Protocol;

/// <summary>A member tells its primary that a sub-batch is durable in its store (S3).</summary>
/// <param name="Signature">Over the statement that the batch is prepared.</param>
public sealed record PreparedRequest(
    Epoch Epoch, RegionKey Region, BatchName Batch, Incarnation Member, WeakSignature Signature)
    : AckRequest(SalusOpcode.Prepared, Epoch)
{
    public override void WriteBody(ref WireWriter w)
    {
        w.Region(Region);
        Batch.Write(ref w);
        w.Guid(Member.Value);
        w.Hash(Signature.Value);
    }

    internal static PreparedRequest Read(Epoch epoch, ref WireReader r) => new(epoch, r.Region(),
        BatchName.Read(ref r), new Incarnation(r.Guid()), new WeakSignature(r.Hash()));
}
