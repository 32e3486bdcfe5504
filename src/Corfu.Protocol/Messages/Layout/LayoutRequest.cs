namespace Corfu.Protocol;

/// <summary>
/// The layout's requests: a write-once register per epoch, decided by Paxos (R12). The register (slot) is named in the body; the
/// frame's epoch is the caller's and is not checked, since the layout is what defines epochs.
/// </summary>
public abstract record LayoutRequest(Epoch Slot) : Request<LayoutResponse>(Slot)
{
    public override void WriteBody(ref WireWriter w)
    {
    }

    public override Response ReadResponse(Status status, Epoch epoch, ref WireReader r) => LayoutResponse.Read(status, epoch, ref r);

    public override Response Fail(Status status, Epoch epoch) => new LayoutResponse(status, epoch, null, null);
}
