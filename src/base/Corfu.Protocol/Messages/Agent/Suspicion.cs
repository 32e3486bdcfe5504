namespace Corfu.Protocol;

/// <summary>The second observer (docs/protocol.md, Agents): whether another agent shares a suspicion. It probes the
/// node before it answers.</summary>
public sealed record SuspicionRequest(Epoch Epoch, NodeRole Role, NodeAddress Suspect)
    : Request<SuspicionResponse>(Opcode.Suspicion, Epoch)
{
    public override void WriteBody(ref WireWriter w)
    {
        w.Byte((byte)Role);
        w.Address(Suspect);
    }

    internal static SuspicionRequest Read(Epoch epoch, ref WireReader r) => new(epoch, (NodeRole)r.Byte(), r.Address());

    public override Response ReadResponse(Status status, Epoch epoch, ref WireReader r) => status == Status.Ok
        ? new SuspicionResponse(status, epoch, r.Bool(), (NodeHealth)r.Byte(), r.Reason())
        : Fail(status, epoch);

    public override Response Fail(Status status, Epoch epoch) =>
        new SuspicionResponse(status, epoch, false, NodeHealth.Unknown, "");
}

/// <param name="Answers">Whether the node answered the probe that this question caused, if only that it has no place
/// for the connection.</param>
public sealed record SuspicionResponse(Status Status, Epoch Epoch, bool Answers, NodeHealth Health, string Why)
    : Response(Status, Epoch)
{
    public override void WriteBody(ref WireWriter w)
    {
        if (!IsOk) return;
        w.Bool(Answers);
        w.Byte((byte)Health);
        w.Reason(Why);
    }
}
