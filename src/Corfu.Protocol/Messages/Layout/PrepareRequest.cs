namespace Corfu.Protocol;

/// <summary>Phase 1 for the slot.</summary>
public sealed record PrepareRequest(Epoch Slot, Ballot Ballot) : LayoutRequest(Slot)
{
    public override Opcode Opcode => Opcode.Prepare;

    public override void WriteBody(ref WireWriter w) => Ballot.Write(ref w);

    internal static PrepareRequest Read(Epoch epoch, ref WireReader r) => new(epoch, Ballot.Read(ref r));
}
