namespace Corfu.Protocol;

/// <summary>Starts the named incarnation in the projection's epoch, at its start; idempotent, from any client. A
/// second, different projection for one epoch is a <see cref="Status.Conflict"/>.</summary>
public sealed record BootstrapRequest(Projection Projection) : AckRequest(Opcode.Bootstrap, Projection.Epoch)
{
    public override void WriteBody(ref WireWriter w) => ProjectionCodec.Write(ref w, Projection);

    internal static BootstrapRequest Read(Epoch epoch, ref WireReader r) => new(ProjectionCodec.Read(ref r, epoch));
}
