using System.Diagnostics.CodeAnalysis;
using Corfu.Client;
using Corfu.Protocol;

namespace Tango.Playback;

/// <summary>
/// The objects one player plays, how far each unit has got, and the views that readers see. Changed by the player's
/// cycles only, one at a time; <see cref="Published"/> may be read by anyone.
/// </summary>
internal sealed class HostedObjects
{
    private readonly Dictionary<ObjectId, HostedObject> _objects = [];

    // Invariant: _slots[i].Slot == i, for ever; an object that was dropped keeps its slot and takes it again.
    private readonly List<HostedObject> _slots = [];
    private readonly List<HostedUnit> _catchingUp = [];
    private bool _slotsChanged;
    private PublishedViews _published = new(LogPosition.Zero, []);

    /// <summary>The newest complete views; never older than any cycle that a caller has awaited.</summary>
    public PublishedViews Published => Volatile.Read(ref _published);

    /// <summary>Everything below is applied to every unit that is not catching up.</summary>
    public LogPosition Applied { get; private set; }

    /// <summary>How far playback of the unit that is furthest behind has got.</summary>
    public LogPosition SlowestPlayedTo =>
        _catchingUp.Aggregate(Applied, static (least, unit) => LogPosition.Min(least, unit.PlayedTo));

    public bool IsCatchingUp => _catchingUp.Count > 0;

    /// <summary>The object, if it is hosted and has not had the entry at this position applied to it.</summary>
    public bool TryGet(ObjectId id, LogPosition position, [NotNullWhen(true)] out HostedObject? hosted) =>
        _objects.TryGetValue(id, out hosted) && position >= (hosted.Unit.IsCatchingUp ? hosted.Unit.PlayedTo : Applied);

    /// <returns>False: it was added before.</returns>
    public bool TryAdd(HostedUnit unit)
    {
        if (_objects.ContainsKey(unit.Objects[0].Id)) return false;
        _catchingUp.Add(unit);
        foreach (var hosted in unit.Objects)
        {
            if (hosted.Slot < 0)
            {
                hosted.Slot = _slots.Count;
                _slots.Add(hosted);
            }

            _objects.Add(hosted.Id, hosted);
        }

        _slotsChanged = true;
        return true;
    }

    /// <summary>
    /// R22, R23: a history that cannot be played fails its opener, not the objects that are past it. Such a unit goes
    /// on from where it got to when it is added again.
    /// </summary>
    public void DropCatchingUp()
    {
        foreach (var hosted in _catchingUp.SelectMany(static unit => unit.Objects)) _objects.Remove(hosted.Id);
        _catchingUp.Clear();
    }

    public void AddStreamsTo(IStreamCursor cursor, LogPosition from)
    {
        // In slot order: the order in which streams are added decides the order of requests, which the simulator
        // replays.
        foreach (var hosted in _slots)
        {
            if (_objects.ContainsKey(hosted.Id)) cursor.Add(hosted.Id.Stream, from);
        }
    }

    /// <summary>The whole entry at this position is applied to every unit that wanted it.</summary>
    public void EntryApplied(LogPosition position)
    {
        foreach (var unit in _catchingUp) unit.PlayedTo = LogPosition.Max(unit.PlayedTo, position.Next);
        AdvanceTo(position.Next);
    }

    /// <summary>No hosted stream has an entry between <see cref="Applied"/> and <paramref name="end"/> that is not
    /// applied.</summary>
    public void AdvanceTo(LogPosition end) => Applied = LogPosition.Max(Applied, end);

    public void EndCatchUp()
    {
        foreach (var unit in _catchingUp) unit.IsCatchingUp = false;
        _catchingUp.Clear();
    }

    /// <summary>Shows readers everything applied so far. R17: call it between entries only.</summary>
    public void Publish()
    {
        var old = _published;
        FrozenView[]? views = _slotsChanged ? Grown(old.Views) : null;
        foreach (var hosted in _slots)
        {
            if (!hosted.IsDirty || hosted.Unit.IsCatchingUp) continue;
            views ??= [.. old.Views];
            views[hosted.Slot] = hosted.Publish();
        }

        _slotsChanged = false;
        if (views is not null || Applied > old.End)
            Volatile.Write(ref _published, new PublishedViews(Applied, views ?? old.Views));
    }

    private FrozenView[] Grown(FrozenView[] views)
    {
        var grown = new FrozenView[_slots.Count];
        views.CopyTo(grown, 0);
        return grown;
    }
}
