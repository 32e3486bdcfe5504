namespace Corfu.Store;

/// <summary>Asks a watch how far it has come. A watch that is asked now and then costs less than one that tells each
/// step (<see cref="WatchOptions.Progress"/>): it sleeps while its range is quiet. For one watch; any thread.</summary>
public sealed class ProgressRequests
{
    private readonly Lock _gate = new();

    // Guarded by _gate.
    private long _asked;
    private Action? _wake;

    /// <summary>The greatest revision asked for; 0: none is.</summary>
    internal long Asked
    {
        get
        {
            lock (_gate) return _asked;
        }
    }

    /// <summary>The watch tells a revision without changes once it has told all up to this one.</summary>
    /// <param name="revision">A revision that the store has: the watch tells nothing before.</param>
    public void Ask(long revision)
    {
        Action? wake;
        lock (_gate) (_asked, wake) = (Math.Max(Math.Max(_asked, revision), 1), _wake);
        wake?.Invoke();
    }

    /// <summary>Whether progress is to be told now.</summary>
    internal bool Take(long told)
    {
        lock (_gate)
        {
            if (_asked == 0 || _asked > told) return false;
            _asked = 0;
            return true;
        }
    }

    /// <param name="wake">Called with each request from now on, and for one that there is; null: the watch is awake.
    /// </param>
    internal void WakeBy(Action? wake)
    {
        bool isAsked;
        lock (_gate) (_wake, isAsked) = (wake, _asked != 0);
        if (isAsked) wake?.Invoke();
    }
}
