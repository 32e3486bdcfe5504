namespace Corfu.Protocol;

/// <summary>Hands a unit the decided projection of the request's epoch; idempotent, from any client. The unit persists
/// the epoch before it serves it.</summary>
public sealed record InstallRequest(Projection Projection) : AckRequest(Opcode.Install, Projection.Epoch)
{
    public override void WriteBody(ref WireWriter w) => ProjectionCodec.Write(ref w, Projection);

    internal static InstallRequest Read(Epoch epoch, ref WireReader r) => new(ProjectionCodec.Read(ref r, epoch));
}

/// <summary>"Are you still exactly at this epoch?" (design: linearizability without clocks). Ok only if the unit has
/// installed this epoch and sealed none above it.</summary>
public sealed record ConfirmEpochRequest(Epoch Epoch) : AckRequest(Opcode.ConfirmEpoch, Epoch);
