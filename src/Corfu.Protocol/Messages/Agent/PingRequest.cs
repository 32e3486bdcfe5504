namespace Corfu.Protocol;

/// <summary>
/// The heartbeat between agents. The epoch is the caller's newest: one that is behind learns that there is a newer projection.
/// </summary>
/// <param name="From">The caller, so that agents that were told of one learn of all.</param>
/// <param name="Leaving">The caller's process ends in good order and may be back soon.</param>
public sealed record PingRequest(Epoch Epoch, NodeAddress From, bool Leaving, Automation Automation) : Request<PingResponse>(Epoch)
{
    public override Opcode Opcode => Opcode.Ping;

    public override void WriteBody(ref WireWriter w)
    {
        ProjectionCodec.Address(ref w, From);
        w.Bool(Leaving);
        Automation.Write(ref w);
    }

    internal static PingRequest Read(Epoch epoch, ref WireReader r) =>
        new(epoch, ProjectionCodec.Address(ref r), r.Bool(), Automation.Read(ref r));

    public override Response ReadResponse(Status status, Epoch epoch, ref WireReader r) => PingResponse.Read(status, epoch, ref r);

    public override Response Fail(Status status, Epoch epoch) => new PingResponse(status, epoch, default, []);
}
