namespace Corfu.Protocol;

/// <summary>
/// "Are you still exactly at this epoch?" (design: linearizability without clocks). Ok only if the unit has installed this epoch
/// and sealed none above it.
/// </summary>
public sealed record ConfirmEpochRequest(Epoch Epoch) : AckRequest(Epoch)
{
    public override Opcode Opcode => Opcode.ConfirmEpoch;

    public override void WriteBody(ref WireWriter w)
    {
    }
}
