using System.Diagnostics.CodeAnalysis;
using Corfu.Client;
using Corfu.Protocol;

namespace Tango.Playback;

/// <summary>The objects that one playback plays, and how far it has got. Used by that playback only.</summary>
internal sealed class HostedObjects
{
    private readonly Dictionary<ObjectId, HostedObject> _objects = [];

    /// <summary>Everything below is applied to every unit.</summary>
    public LogPosition Applied { get; private set; }

    /// <summary>The object, if it is hosted and has not had the entry at this position applied to it.</summary>
    public bool TryGet(ObjectId id, LogPosition position, [NotNullWhen(true)] out HostedObject? hosted) =>
        _objects.TryGetValue(id, out hosted) && position >= hosted.Unit.Start;

    /// <summary>A member was added to a unit that is hosted; its stream is to be played from the position on.</summary>
    public Action<HostedObject, LogPosition>? Joined { get; set; }

    /// <summary>A unit that is hosted was deleted.</summary>
    public Action<HostedUnit>? Deleted { get; set; }

    public bool IsEmpty => _objects.Count == 0;

    public bool Has(HostedUnit unit) =>
        _objects.TryGetValue(unit.Objects[0].Id, out var first) && first.Unit == unit;

    /// <summary>Every unit starts at or above <see cref="Applied"/>, unless nothing has been played.</summary>
    public void Add(HostedUnit unit)
    {
        foreach (var hosted in unit.Objects) _objects.Add(hosted.Id, hosted);
    }

    /// <param name="birth">Of the record that adds it. Nothing of it stands below, or in the same entry.</param>
    public void Join(HostedObject member, LogPosition birth)
    {
        _objects.Add(member.Id, member);
        Joined?.Invoke(member, birth.Next);
    }

    public void Remove(HostedUnit unit)
    {
        foreach (var hosted in unit.Objects) _objects.Remove(hosted.Id);
    }

    /// <summary>R22: none of the units can be played on.</summary>
    public void Stop(Exception reason)
    {
        foreach (var unit in _objects.Values.Select(static hosted => hosted.Unit).Distinct())
            unit.Stop(new RecordVersion(Applied, 0), reason);
    }

    /// <summary>The hosted streams of an entry, with the first position of each that is not applied.</summary>
    public IEnumerable<(StreamId Stream, LogPosition From)> StreamsOf(LogEntry entry)
    {
        foreach (var header in entry.Streams)
        {
            if (TryGet(new ObjectId(header.Stream.Value), entry.Position, out var hosted))
                yield return (header.Stream, LogPosition.Max(hosted.Unit.Start, Applied));
        }
    }

    /// <summary>No hosted stream has an entry between <see cref="Applied"/> and <paramref name="end"/> that is not
    /// applied.</summary>
    public void AdvanceTo(LogPosition end) => Applied = LogPosition.Max(Applied, end);
}
