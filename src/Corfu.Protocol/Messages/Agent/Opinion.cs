namespace Corfu.Protocol;

/// <summary>The second observer (docs/protocol.md, Agents): what another agent holds of a node. It looks at once before it answers.</summary>
public sealed record OpinionRequest(Epoch Epoch, NodeRole Role, NodeAddress Subject) : Request<OpinionResponse>(Epoch)
{
    public override Opcode Opcode => Opcode.Opinion;

    public override void WriteBody(ref WireWriter w)
    {
        w.Byte((byte)Role);
        ProjectionCodec.Address(ref w, Subject);
    }

    internal static OpinionRequest Read(Epoch epoch, ref WireReader r) => new(epoch, (NodeRole)r.Byte(), ProjectionCodec.Address(ref r));

    public override Response ReadResponse(Status status, Epoch epoch, ref WireReader r) => status == Status.Ok
        ? new OpinionResponse(status, epoch, r.Bool(), (NodeHealth)r.Byte(), r.Text())
        : Fail(status, epoch);

    public override Response Fail(Status status, Epoch epoch) => new OpinionResponse(status, epoch, false, NodeHealth.Unknown, "");
}

/// <param name="Answers">Whether the node answered the look that this question caused.</param>
public sealed record OpinionResponse(Status Status, Epoch Epoch, bool Answers, NodeHealth Health, string Why) : Response(Status, Epoch)
{
    public override void WriteBody(ref WireWriter w)
    {
        if (!IsOk) return;
        w.Bool(Answers);
        w.Byte((byte)Health);
        w.Text(Why);
    }
}
