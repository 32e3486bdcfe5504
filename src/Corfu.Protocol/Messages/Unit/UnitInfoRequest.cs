namespace Corfu.Protocol;

/// <summary>State of a unit for people and tools; answered at any epoch.</summary>
public sealed record UnitInfoRequest(Epoch Epoch) : Request<UnitInfoResponse>(Epoch)
{
    public override Opcode Opcode => Opcode.UnitInfo;

    public override void WriteBody(ref WireWriter w)
    {
    }

    public override Response ReadResponse(Status status, Epoch epoch, ref WireReader r) => UnitInfoResponse.Read(status, epoch, ref r);

    public override Response Fail(Status status, Epoch epoch) => UnitInfoResponse.Without(status, epoch);
}
