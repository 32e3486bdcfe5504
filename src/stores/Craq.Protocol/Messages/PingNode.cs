namespace Craq.Protocol;

/// <summary>Between agents: a sign of life, or the question whether the receiver shares a suspicion.</summary>
/// <param name="Suspect">A node that the sender holds gone; none: the receiver alone is asked.</param>
public sealed record PingNodeRequest(Epoch Epoch, NodeId Suspect) : Request<PingNodeResponse>(CraqOpcode.Ping, Epoch)
{
    public override void WriteBody(ref WireWriter w) => w.Guid(Suspect.Value);

    internal static PingNodeRequest Read(Epoch epoch, ref WireReader r) => new(epoch, new NodeId(r.Guid()));

    public override Response ReadResponse(Status status, Epoch epoch, ref WireReader r) => status == Status.Ok
        ? new PingNodeResponse(status, epoch, r.Bool(), (NodeHealth)r.Byte())
        : Fail(status, epoch);

    public override Response Fail(Status status, Epoch epoch) =>
        new PingNodeResponse(status, epoch, false, NodeHealth.Unknown);
}

/// <param name="Answers">Whether the suspect answered a probe that this question caused.</param>
/// <param name="Health">The receiver's verdict on the suspect.</param>
public sealed record PingNodeResponse(Status Status, Epoch Epoch, bool Answers, NodeHealth Health)
    : Response(Status, Epoch)
{
    public override void WriteBody(ref WireWriter w)
    {
        if (!IsOk) return;
        w.Bool(Answers);
        w.Byte((byte)Health);
    }
}
