using Corfu;
using Tango.Model;

namespace Tango.Playback;

/// <summary>The observations of a runtime. Within cycles of the player only.</summary>
internal sealed class ApplyObservers
{
    private readonly GatheredEffects _effects = new();
    private readonly List<ApplyObservation> _all = [];

    /// <summary>Between publications, so that the observation hears of what is applied from now on.</summary>
    /// <returns>Why it does not begin; null: it has begun.</returns>
    public Exception? TryBegin(ApplyObservation observation, PublishedViews published)
    {
        // The caller has gone.
        if (observation.HasEnded) return null;
        try
        {
            observation.Begin(published);
        }
        catch (Exception e)
        {
            return e;
        }

        _all.Add(observation);
        foreach (var hosted in observation.Objects) hosted.Effects = _effects;
        return null;
    }

    /// <summary>Tells what was gathered. The views were published before.</summary>
    public void Publish(PublishedViews published)
    {
        if (_all.Count == 0) return;
        foreach (var observation in _all) observation.Publish(_effects.Kept, published);
        _effects.Clear();
        if (_all.Exists(static observation => observation.HasEnded)) RemoveEnded();
    }

    /// <summary>Playback has ended for good.</summary>
    public void End(Exception reason)
    {
        foreach (var observation in _all) observation.End(reason);
        RemoveEnded();
    }

    /// <summary>Records from there on were applied in part, and are not published.</summary>
    public void DropFrom(LogPosition end) => _effects.DropFrom(end);

    private void RemoveEnded()
    {
        var ended = _all.Where(static observation => observation.HasEnded).ToList();
        _all.RemoveAll(static observation => observation.HasEnded);
        foreach (var hosted in ended.SelectMany(static observation => observation.Objects))
        {
            if (!_all.Exists(observation => observation.Objects.Contains(hosted))) hosted.Effects = null;
        }
    }
}
