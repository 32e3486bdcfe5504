using Corfu.Protocol;

namespace Tango.Playback;

/// <summary>
/// What is opened and played together: one object, or one co-hosted group (R20). Commit records within a unit are
/// decided from its own streams alone, so that a unit opened late can catch up by itself.
/// </summary>
internal sealed class HostedUnit
{
    public HostedUnit(IReadOnlyList<HostedObject> objects)
    {
        Objects = objects;
        foreach (var hosted in objects) hosted.Unit = this;
    }

    public IReadOnlyList<HostedObject> Objects { get; }

    /// <summary>Playback only. True until the unit has reached the position of the others.</summary>
    public bool IsCatchingUp { get; set; } = true;

    /// <summary>Playback only. While catching up: everything below has been applied to this unit.</summary>
    public LogPosition PlayedTo { get; set; }
}
