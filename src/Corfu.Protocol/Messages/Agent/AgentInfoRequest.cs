namespace Corfu.Protocol;

/// <summary>State of an agent for people and tools.</summary>
public sealed record AgentInfoRequest(Epoch Epoch) : Request<AgentInfoResponse>(Epoch)
{
    public override Opcode Opcode => Opcode.AgentInfo;

    public override void WriteBody(ref WireWriter w)
    {
    }

    public override Response ReadResponse(Status status, Epoch epoch, ref WireReader r) => AgentInfoResponse.Read(status, epoch, ref r);

    public override Response Fail(Status status, Epoch epoch) => new AgentInfoResponse(status, epoch, default, "", [], []);
}
