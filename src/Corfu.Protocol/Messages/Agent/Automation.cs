namespace Corfu.Protocol;

/// <summary>Whether agents reconfigure on their own. Every change has a higher version; agents tell each other, and the highest wins.</summary>
public readonly record struct Automation(long Version, bool IsOn)
{
    internal void Write(ref WireWriter w)
    {
        w.Int64(Version);
        w.Bool(IsOn);
    }

    internal static Automation Read(ref WireReader r) => new(r.Int64(), r.Bool());
}
