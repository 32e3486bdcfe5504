namespace Corfu.Protocol;

/// <summary>Lets agents reconfigure on their own, or not. Telling one is enough: they tell each other.</summary>
public sealed record SetAutomationRequest(Epoch Epoch, Automation Automation) : AckRequest(Epoch)
{
    public override Opcode Opcode => Opcode.SetAutomation;

    public override void WriteBody(ref WireWriter w) => Automation.Write(ref w);

    internal static SetAutomationRequest Read(Epoch epoch, ref WireReader r) => new(epoch, Automation.Read(ref r));
}
