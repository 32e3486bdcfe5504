using Corfu.Protocol;
using Tango.Playback;

namespace Tango.Calls;

/// <summary>Starts playback for a program that writes to its open objects and does not read. Without it such a program
/// would make no checkpoints, and its objects would hold the log.</summary>
internal sealed class UnplayedWrites(Func<Player> player, LoopContext loops, CancellationToken lifetime)
{
    /// <summary>So many records, or positions of the log, are acknowledged before they are played. Far below what a
    /// checkpoint waits for, and far above what one check costs.</summary>
    public const int MaxAhead = 4096;

    private readonly Lock _gate = new();

    // Guarded by _gate. _records: acknowledged and, as far as is known here, not played. _end: after the last of them.
    private long _records;
    private LogPosition _end;

    // Guarded by _gate: how far the last cycle was to play that was started here. It may have failed.
    private LogPosition _asked;
    private bool _isPlaying;

    /// <summary>An entry with updates of open objects is in the log.</summary>
    public void OnAcknowledged(LogPosition end, int records)
    {
        lock (_gate)
        {
            var played = LogPosition.Max(player().Published.End, _asked);
            if (_end <= played) _records = 0;
            _records += records;
            _end = LogPosition.Max(_end, end);
            if (_isPlaying || (_records < MaxAhead && _end - played < MaxAhead)) return;
            _isPlaying = true;
            _asked = _end;
        }

        loops.Start(() => PlayAsync(end));
    }

    private async Task PlayAsync(LogPosition end)
    {
        // The callers of the entry are answered first.
        await Task.Yield();
        try
        {
            await player().CatchUpAsync(end, lifetime);
        }
        catch (Exception)
        {
            // The player has logged it. It is tried again after as many more.
        }

        lock (_gate) _isPlaying = false;
    }
}
