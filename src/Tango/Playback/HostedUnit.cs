using Corfu.Protocol;

namespace Tango.Playback;

/// <summary>
/// What is opened and played together: one object, or one co-hosted group (R20). Commit records within a unit are
/// decided from its own streams alone, so that a unit opened late can catch up by itself.
/// </summary>
internal sealed class HostedUnit
{
    // Written by playback only, after the members are stopped; never reset.
    private volatile bool _isUnreadable;

    public HostedUnit(IReadOnlyList<HostedObject> objects)
    {
        Objects = objects;
        foreach (var hosted in objects) hosted.Unit = this;
    }

    public IReadOnlyList<HostedObject> Objects { get; }

    /// <summary>Playback only. True until the unit has reached the position of the others.</summary>
    public bool IsCatchingUp { get; set; } = true;

    /// <summary>
    /// R20: a record of the unit's streams could not be read. From there on its versions are not known here, no more
    /// than those of objects that are not hosted. For all members: their transactions have no decision records.
    /// </summary>
    public bool IsUnreadable => _isUnreadable;

    /// <summary>Playback only. While catching up: everything below has been applied to this unit.</summary>
    public LogPosition PlayedTo { get; set; }

    /// <summary>R23. Playback only: a record cannot be read, so all members end there.</summary>
    public void Stop(RecordVersion version, Exception reason)
    {
        foreach (var hosted in Objects) hosted.Stop(version, reason);
        _isUnreadable = true;
    }
}
