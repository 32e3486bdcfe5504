using Corfu;
using Microsoft.Extensions.Logging;
using Tango.Model;

namespace Tango.Playback;

/// <summary>Registration of an observer. Within cycles of the player, but for <see cref="Dispose"/>.</summary>
internal sealed class ApplyObservation : IDisposable
{
    private readonly IApplyObserver _observer;
    private readonly ObservedObject[] _objects;
    private readonly ILogger _logger;
    private int _isDisposed;
    private volatile bool _hasEnded;

    /// <param name="objects">Hosted as long as their uses last, which belong to the observation from now on.</param>
    public ApplyObservation(
        IApplyObserver observer, IEnumerable<(TangoObject Handle, CohortUse Use)> objects, ILogger logger)
    {
        (_observer, _logger) = (observer, logger);
        _objects = [.. objects.Select(static used => new ObservedObject(used.Handle, used.Use))];
    }

    public bool HasEnded => _hasEnded;

    public IEnumerable<HostedObject> Objects => _objects.Select(static observed => observed.Hosted);

    /// <exception cref="Exception">An object has stopped, or the observer has failed.</exception>
    public void Begin(PublishedViews published)
    {
        foreach (var observed in _objects) published.Of(observed.Hosted).Require(observed.Hosted);
        foreach (var observed in _objects)
        {
            if (_hasEnded) return;
            Reset(observed, published);
        }

        if (!_hasEnded) _observer.OnPublished(published.End);
    }

    public void Publish(IReadOnlyList<GatheredEffect> effects, PublishedViews published)
    {
        try
        {
            foreach (var effect in effects)
            {
                if (_hasEnded) return;
                if (Find(effect.Applied) is { } observed)
                    _observer.OnApplied(observed.Handle, effect.Version, effect.Effect);
            }

            foreach (var observed in _objects)
            {
                if (_hasEnded) return;
                TellState(observed, published);
            }

            if (!_hasEnded) _observer.OnPublished(published.End);
        }
        catch (Exception e)
        {
            Fail(e);
        }
    }

    /// <summary>Playback has ended for good.</summary>
    public void End(Exception reason)
    {
        if (_hasEnded) return;
        _hasEnded = true;
        TellEnd(reason);
    }

    /// <summary>A method of the observer may still be running, and none begins any more.</summary>
    public void Dispose()
    {
        _hasEnded = true;
        if (Interlocked.Exchange(ref _isDisposed, 1) != 0) return;
        foreach (var observed in _objects) observed.Use.Dispose();
    }

    private void TellState(ObservedObject observed, PublishedViews published)
    {
        var hosted = observed.Hosted;
        if (hosted.Stopped is { } stopped)
        {
            if (stopped == observed.ToldStopped) return;
            observed.ToldStopped = stopped;
            _observer.OnStopped(observed.Handle, stopped.Told);
        }
        else if (hosted.Loads != observed.ToldLoads)
        {
            Reset(observed, published);
        }
    }

    private void Reset(ObservedObject observed, PublishedViews published)
    {
        var hosted = observed.Hosted;
        (observed.ToldLoads, observed.ToldStopped) = (hosted.Loads, null);
        var view = published.Of(hosted).Require(hosted);
        _observer.OnReset(observed.Handle, new ObservedView(view, hosted, published.End));
    }

    private void Fail(Exception reason)
    {
        _hasEnded = true;
        LogFailure(reason, "while objects were played");
        TellEnd(reason);
    }

    private void TellEnd(Exception reason)
    {
        try
        {
            foreach (var observed in _objects)
            {
                // The observer itself may dispose of its observation, or another thread.
                if (Volatile.Read(ref _isDisposed) != 0) return;
                _observer.OnStopped(observed.Handle, reason);
            }
        }
        catch (Exception e)
        {
            LogFailure(e, "when it was told of its end");
        }
    }

    private void LogFailure(Exception reason, string when)
    {
        try
        {
            _logger.LogCritical(reason, "An observer of objects has failed {When}, and hears nothing any more", when);
        }
        catch (Exception)
        {
            // The program's logger. The other observers and the callers still wait.
        }
    }

    private ObservedObject? Find(HostedObject hosted) =>
        Array.Find(_objects, observed => observed.Hosted == hosted);

    private sealed class ObservedObject(TangoObject handle, CohortUse use)
    {
        public TangoObject Handle => handle;

        public CohortUse Use => use;

        public HostedObject Hosted => use.Hosted;

        public int ToldLoads { get; set; }

        public TangoObjectStoppedException? ToldStopped { get; set; }
    }
}
