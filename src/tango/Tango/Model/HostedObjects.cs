using System.Diagnostics.CodeAnalysis;
using Corfu;

namespace Tango.Model;

/// <summary>The objects that one playback plays, and how far it has got. Used by that playback only.</summary>
internal sealed class HostedObjects
{
    private readonly Dictionary<ObjectId, HostedObject> _objects = [];

    /// <summary>Everything below is applied to every cohort.</summary>
    public LogPosition Applied { get; private set; }

    /// <summary>The object, if it is hosted and has not had the entry at this position applied to it.</summary>
    public bool TryGet(ObjectId id, LogPosition position, [NotNullWhen(true)] out HostedObject? hosted) =>
        _objects.TryGetValue(id, out hosted) && position >= hosted.Cohort.Start;

    /// <summary>A member was added to a cohort that is hosted; its stream is to be played from the position
    /// on.</summary>
    public Action<HostedObject, LogPosition>? Joined { get; set; }

    /// <summary>A cohort that is hosted was deleted.</summary>
    public Action<Cohort>? Deleted { get; set; }

    public bool IsEmpty => _objects.Count == 0;

    public bool Has(Cohort cohort) =>
        _objects.TryGetValue(cohort.Objects[0].Id, out var first) && first.Cohort == cohort;

    /// <summary>Every cohort starts at or above <see cref="Applied"/>, unless nothing has been played.</summary>
    public void Add(Cohort cohort)
    {
        foreach (var hosted in cohort.Objects) _objects.Add(hosted.Id, hosted);
    }

    /// <param name="birth">Position of the record that adds the member. No record of the member stands below, or in the
    /// same entry.</param>
    public void Join(HostedObject member, LogPosition birth)
    {
        _objects.Add(member.Id, member);
        Joined?.Invoke(member, birth.Next);
    }

    public void Remove(Cohort cohort)
    {
        foreach (var hosted in cohort.Objects) _objects.Remove(hosted.Id);
    }

    /// <summary>R22: none of the cohorts can be played on.</summary>
    public void Stop(Exception reason)
    {
        foreach (var cohort in _objects.Values.Select(static hosted => hosted.Cohort).Distinct())
            cohort.Stop(new RecordVersion(Applied, 0), reason);
    }

    /// <summary>The hosted streams of an entry, with the first position of each that is not applied.</summary>
    public IEnumerable<(StreamId Stream, LogPosition From)> StreamsOf(LogEntry entry)
    {
        foreach (var header in entry.Streams)
        {
            if (TryGet(new ObjectId(header.Stream.Value), entry.Position, out var hosted))
                yield return (header.Stream, LogPosition.Max(hosted.Cohort.Start, Applied));
        }
    }

    /// <summary>No hosted stream has an entry between <see cref="Applied"/> and <paramref name="end"/> that is not
    /// applied.</summary>
    public void AdvanceTo(LogPosition end) => Applied = LogPosition.Max(Applied, end);
}
