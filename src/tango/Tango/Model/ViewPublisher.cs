using Corfu;

namespace Tango.Model;

/// <summary>The views that readers see (R17). Changed by the player's cycles only, one at a time;
/// <see cref="Published"/> may be read by anyone.</summary>
internal sealed class ViewPublisher
{
    // Slots that were given and not freed hold views of their owners, or nothing yet. What is freed is empty in the
    // next publication.
    private readonly Stack<int> _free = [];
    private readonly List<int> _emptied = [];
    private int _slots;

    // The objects that are dirty.
    private readonly List<HostedObject> _changed = [];
    private PublishedViews _published = new(LogPosition.Zero, [], null);

    /// <summary>The newest complete views; never older than any cycle that a caller has awaited.</summary>
    public PublishedViews Published => Volatile.Read(ref _published);

    public void Add(Cohort cohort)
    {
        foreach (var hosted in cohort.Objects)
        {
            // A cohort that was reloaded has its slots.
            if (hosted.Slot < 0) hosted.ShowAt(_free.TryPop(out var slot) ? slot : _slots++, _changed);
        }
    }

    /// <summary>The cohort is not shown any more, from the next publication on.</summary>
    public void Remove(Cohort cohort)
    {
        foreach (var hosted in cohort.Objects)
        {
            _changed.Remove(hosted);
            _emptied.Add(hosted.Slot);
        }
    }

    /// <summary>Shows readers everything applied so far. R17: call it between entries only.</summary>
    /// <param name="end">Everything below is applied to all of the views.</param>
    /// <param name="seen">Null: as before.</param>
    public void Publish(LogPosition end, SeenTail? seen = null)
    {
        var old = _published;
        seen ??= old.Seen;
        if (_changed.Count + _emptied.Count == 0)
        {
            if (end > old.End || seen != old.Seen)
                Volatile.Write(ref _published, old with { End = LogPosition.Max(old.End, end), Seen = seen });
            return;
        }

        var pieces = (_slots + PublishedViews.PieceLength - 1) / PublishedViews.PieceLength;
        var views = new FrozenView[pieces][];
        old.Views.CopyTo(views, 0);
        foreach (var hosted in _changed) Slot(hosted.Slot) = hosted.Publish();
        foreach (var slot in _emptied)
        {
            Slot(slot) = default;
            _free.Push(slot);
        }

        _changed.Clear();
        _emptied.Clear();
        Volatile.Write(ref _published, new PublishedViews(end, views, seen));

        ref FrozenView Slot(int slot)
        {
            var (piece, index) = Math.DivRem(slot, PublishedViews.PieceLength);
            if (piece >= old.Views.Length) views[piece] ??= new FrozenView[PublishedViews.PieceLength];
            else if (views[piece] == old.Views[piece]) views[piece] = [.. old.Views[piece]];
            return ref views[piece][index];
        }
    }
}
