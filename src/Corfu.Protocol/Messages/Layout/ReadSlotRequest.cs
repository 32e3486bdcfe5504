namespace Corfu.Protocol;

/// <summary>One slot, for history and for a lagging client.</summary>
public sealed record ReadSlotRequest(Epoch Slot) : LayoutRequest(Slot)
{
    public override Opcode Opcode => Opcode.ReadSlot;
}
