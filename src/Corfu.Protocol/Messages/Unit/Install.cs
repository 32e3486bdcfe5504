namespace Corfu.Protocol;

/// <summary>
/// Hands a unit the decided projection of the request's epoch; idempotent, from any client (R14). The unit persists the
/// epoch before it serves it.
/// </summary>
public sealed record InstallRequest(Projection Projection) : AckRequest(Projection.Epoch)
{
    public override Opcode Opcode => Opcode.Install;

    public override void WriteBody(ref WireWriter w) => ProjectionCodec.Write(ref w, Projection);

    internal static InstallRequest Read(Epoch epoch, ref WireReader r)
    {
        var projection = ProjectionCodec.Read(ref r);
        return projection.Epoch == epoch
            ? new InstallRequest(projection)
            : throw new MalformedDataException("A projection's epoch is not its frame's.");
    }
}

/// <summary>
/// "Are you still exactly at this epoch?" (design: linearizability without clocks). Ok only if the unit has installed
/// this epoch and sealed none above it.
/// </summary>
public sealed record ConfirmEpochRequest(Epoch Epoch) : AckRequest(Epoch)
{
    public override Opcode Opcode => Opcode.ConfirmEpoch;

    public override void WriteBody(ref WireWriter w)
    {
    }
}
