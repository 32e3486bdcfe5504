using Corfu.Protocol;

namespace Tango.Playback;

/// <summary>The views that readers see (R17). Changed by the player's cycles only, one at a time;
/// <see cref="Published"/> may be read by anyone.</summary>
internal sealed class ViewPublisher
{
    // Invariant: _slots[i].Slot == i, for ever.
    private readonly List<HostedObject> _slots = [];
    private PublishedViews _published = new(LogPosition.Zero, []);

    /// <summary>The newest complete views; never older than any cycle that a caller has awaited.</summary>
    public PublishedViews Published => Volatile.Read(ref _published);

    public void Add(HostedUnit unit)
    {
        foreach (var hosted in unit.Objects)
        {
            // A unit that was reloaded has its slots.
            if (hosted.Slot >= 0) continue;
            hosted.Slot = _slots.Count;
            _slots.Add(hosted);
        }
    }

    /// <summary>Shows readers everything applied so far. R17: call it between entries only.</summary>
    /// <param name="end">Everything below is applied to all of the views.</param>
    public void Publish(LogPosition end)
    {
        var old = _published;
        var views = _slots.Count > old.Views.Length ? Grown(old.Views) : null;
        foreach (var hosted in _slots)
        {
            if (!hosted.IsDirty) continue;
            views ??= [.. old.Views];
            views[hosted.Slot] = hosted.Publish();
        }

        if (views is not null || end > old.End)
            Volatile.Write(ref _published, new PublishedViews(end, views ?? old.Views));
    }

    private FrozenView[] Grown(FrozenView[] views)
    {
        var grown = new FrozenView[_slots.Count];
        views.CopyTo(grown, 0);
        return grown;
    }
}
