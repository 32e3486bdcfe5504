namespace Corfu.Protocol;

/// <summary>A request whose answer is a bare status.</summary>
public abstract record AckRequest(Epoch Epoch) : Request<AckResponse>(Epoch)
{
    public override Response ReadResponse(Status status, Epoch epoch, ref WireReader r) => new AckResponse(status, epoch);

    public override Response Fail(Status status, Epoch epoch) => new AckResponse(status, epoch);
}
