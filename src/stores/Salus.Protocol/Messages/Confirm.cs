namespace Salus.Protocol;

/// <summary>The primary of a batch's leader asks the leader of the batch before whether that is committed
/// (S4).</summary>
/// <param name="Leader">The region that is asked.</param>
public sealed record ConfirmRequest(Epoch Epoch, RegionKey Leader, long Run, long Batch)
    : Request<CommitResponse>(SalusOpcode.Confirm, Epoch)
{
    public override void WriteBody(ref WireWriter w)
    {
        w.Region(Leader);
        w.Int64(Run);
        w.Int64(Batch);
    }

    internal static ConfirmRequest Read(Epoch epoch, ref WireReader r) =>
        new(epoch, r.Region(), r.Number(), r.Number());

    public override Response ReadResponse(Status status, Epoch epoch, ref WireReader r) =>
        CommitResponse.Read(status, epoch, ref r);

    public override Response Fail(Status status, Epoch epoch) => new CommitResponse(status, epoch);
}
