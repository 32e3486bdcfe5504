using Corfu.Protocol;
using Tango.Checkpoints;

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

    /// <summary>Since the unit's playback began here.</summary>
    public UnitTraffic Traffic { get; } = new();

    /// <summary>Playback only: everything below was applied to this unit before the playback that it belongs to now;
    /// that one applies the rest.</summary>
    public LogPosition Start { get; private set; }

    /// <summary>
    /// R20: a record of the unit's streams could not be read. From there on its versions are not known here, no more
    /// than those of objects that are not hosted. For all members: their transactions have no decision records.
    /// </summary>
    public bool IsUnreadable => _isUnreadable;

    /// <summary>How long the unit stays hosted.</summary>
    public UnitStay Stay { get; } = new();

    /// <summary>Before anything is played.</summary>
    public void StartFrom(LoadedUnit loaded)
    {
        Start = loaded.End;
        Traffic.CheckpointSize = loaded.Size;
        for (var i = 0; i < Objects.Count; i++) Objects[i].StartFrom(loaded.Members[i]);
    }

    /// <summary>The same objects, of which nothing is played yet.</summary>
    public HostedUnit Anew() => new([.. Objects.Select(static hosted => new HostedObject(hosted.Entry, hosted.Type))]);

    /// <summary>Goes on with what another playback has made of the same objects. R23: members that have not stopped
    /// stay as they are.</summary>
    /// <param name="position">Where both playbacks stand.</param>
    public void TakeOver(HostedUnit other, LogPosition position)
    {
        Start = position;
        for (var i = 0; i < Objects.Count; i++) Objects[i].TakeOver(other.Objects[i]);
        _isUnreadable = other._isUnreadable;
        Traffic.TakeOver(other.Traffic);
    }

    /// <summary>R23. Playback only: a record cannot be read, so all members end there.</summary>
    public void Stop(RecordVersion version, Exception reason)
    {
        foreach (var hosted in Objects) hosted.Stop(version, reason);
        _isUnreadable = true;
    }
}
