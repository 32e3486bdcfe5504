namespace Corfu.Protocol;

/// <summary>Whether agents reconfigure on their own. Every change has a higher version; agents tell each other, and the
/// highest wins.</summary>
public readonly record struct Automation(long Version, bool IsOn)
{
    internal void Write(ref WireWriter w)
    {
        w.Int64(Version);
        w.Bool(IsOn);
    }

    internal static Automation Read(ref WireReader r) => new(r.Int64(), r.Bool());
}

/// <summary>Lets agents reconfigure on their own, or not. Telling one is enough: they tell each other.</summary>
public sealed record SetAutomationRequest(Epoch Epoch, Automation Automation) : AckRequest(Opcode.SetAutomation, Epoch)
{
    public override void WriteBody(ref WireWriter w) => Automation.Write(ref w);

    internal static SetAutomationRequest Read(Epoch epoch, ref WireReader r) => new(epoch, Automation.Read(ref r));
}
