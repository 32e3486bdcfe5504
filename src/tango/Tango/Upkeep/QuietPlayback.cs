using Corfu;
using Tango.Chores;
using Tango.Playback;

namespace Tango.Upkeep;

/// <summary>Plays now and then while nothing uses the runtime. Playback is demand-driven (Tango 3.1); without this, a
/// quiet host would decide nothing, and runtimes that cannot decide themselves would wait for it (R20, R23).</summary>
internal sealed class QuietPlayback(Player player, TimeSpan period, ChoreLoop chores) : IChore
{
    private int _hasStarted;
    private volatile bool _hasPlayed;

    /// <summary>A cycle has ended. The first one starts the clock.</summary>
    public void OnPlayed(LogPosition end)
    {
        if (Interlocked.Exchange(ref _hasStarted, 1) == 0) chores.Schedule(this, period);
        else _hasPlayed = true;
    }

    public async Task<TimeSpan?> RunAsync()
    {
        try
        {
            if (!_hasPlayed) await player.CatchUpAsync();
        }
        catch (Exception)
        {
            // The player has logged it. It is tried again after the next period.
        }

        _hasPlayed = false;
        return period;
    }
}
