using Corfu.StateMachines.Proposals;
using Corfu.StateMachines.Records;
using Corfu.StateMachines.State;

namespace Corfu.StateMachines.Snapshots;

/// <summary>Says when a snapshot is due, writes it, reads it back and tells which history is needed no more.</summary>
internal sealed class SnapshotDuty(
    SnapshotStore store, ProposalQueue proposals, ReplicaOptions options, CancellationToken stopping)
{
    private static readonly TimeSpan s_pause = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan s_longestPause = TimeSpan.FromMinutes(1);

    // Times that the patience is doubled at most.
    private const int MostTakeovers = 10;

    // Invariant: a process writes a snapshot at a time.
    private readonly SemaphoreSlim _writing = new(1);
    private readonly Lock _gate = new();

    // Guarded by _gate, as all below. The newest intent that counts here, when it was seen, and whether its snapshot is
    // written.
    private LogPosition? _lastIntent;
    private long _intentSeen;
    private bool _isDone = true;
    private bool _isIntending;

    // Times that this replica has taken over since it knew of a finished snapshot. Each doubles its patience. Else a
    // write that takes longer than the patience is taken over without end, by writes that take as long.
    private int _takeovers;

    // Intents that failed in a row, and the pause that follows the newest.
    private int _failures;
    private long _failed;
    private TimeSpan _pause;

    /// <summary>Why the newest snapshot that was due here is not written; null: it is.</summary>
    public Exception? Failure { get; private set; }

    /// <summary>Takes an intent that counts: the clock for its snapshot starts.</summary>
    public void OnIntent(LogPosition place)
    {
        lock (_gate) (_lastIntent, _intentSeen, _isDone) = (place, options.Time.GetTimestamp(), false);
    }

    /// <summary>Writes the snapshot of this replica's own intent.</summary>
    public void Start(CapturedState captured, LogPosition intent) =>
        options.Loops.Start(() => WriteInBackgroundAsync(captured, intent));

    /// <summary>Takes a state that was loaded: its newest intent may be one whose snapshot no replica
    /// finishes.</summary>
    public void OnLoaded(MachineState state)
    {
        lock (_gate)
        {
            (_lastIntent, _intentSeen) = (state.LastIntent, options.Time.GetTimestamp());
            _isDone = state.LastIntent is null || state.Played.End > state.LastIntent;
        }
    }

    /// <summary>Looks whether a snapshot is due.</summary>
    // Invariant: at most one intent of this replica is on its way, and it names the newest one that counts. A replica
    // whose intent loses waits for the winner, by its own clock, and takes over when nothing came of it (M6).
    public void OnTurn(MachineState state)
    {
        var isDue = state.CommandsSince >= options.SnapshotCommands || state.BytesSince >= options.SnapshotBytes;
        bool isLate;
        lock (_gate)
        {
            var patience = options.SnapshotPatience * (1 << _takeovers);
            isLate = !_isDone && options.Time.GetElapsedTime(_intentSeen) >= patience;
            if (_failures > 0 && options.Time.GetElapsedTime(_failed) < _pause) return;
            if (_isIntending || (!isDue && !isLate) || _writing.CurrentCount == 0) return;
            _isIntending = true;
            if (isLate) _intentSeen = options.Time.GetTimestamp();
        }

        var behind = state.LastIntent;
        options.Loops.Start(() => IntendAsync(behind, mustLook: !isDue));
    }

    /// <summary>Takes that a due snapshot could not be captured or written.</summary>
    public void Fail(Exception reason)
    {
        lock (_gate) Failure = reason;
    }

    /// <summary>Writes a snapshot, reads it back, and lets history go.</summary>
    public async Task<LogPosition> WriteAsync(CapturedState captured, CancellationToken cancellationToken)
    {
        using var machine = captured.Machine;
        await _writing.WaitAsync(cancellationToken);
        try
        {
            var written = await store.WriteAsync(captured, cancellationToken);
            await store.VerifyAsync(written, cancellationToken);
            lock (_gate) Failure = null;
            if (options.Retain is { } retain && await FindOlderAsync(written, cancellationToken) is { } older)
                await retain(older, cancellationToken);
            return written.End;
        }
        finally
        {
            _writing.Release();
        }
    }

    // Invariant: history goes below the older of two snapshots that were read back. Else the only one is damaged, and
    // the machine with it (M5). A snapshot's chunks stand above its end: they were appended after the state was
    // captured.
    private async Task<LogPosition?> FindOlderAsync(SnapshotRecord written, CancellationToken cancellationToken)
    {
        if (Planted.Is("one-snapshot-is-enough")) return written.End;
        foreach (var candidate in await store.NewestAsync(cancellationToken))
        {
            if (candidate.End >= written.End) continue;
            try
            {
                await store.VerifyAsync(candidate, cancellationToken);
                return candidate.End;
            }
            catch (CorfuException e) when (e is LogTrimmedException or MachineFormatException)
            {
                // An older one may be whole.
            }
        }

        return null;
    }

    private async Task WriteInBackgroundAsync(CapturedState captured, LogPosition intent)
    {
        try
        {
            await WriteAsync(captured, stopping);
            Finish(intent);
        }
        catch (Exception e)
        {
            // The intent's time runs out, and a replica intends again.
            Fail(e);
        }
    }

    private async Task IntendAsync(LogPosition? behind, bool mustLook)
    {
        try
        {
            if (mustLook && behind is { } intent
                && (await store.NewestAsync(stopping)).Any(snapshot => snapshot.End > intent))
                Finish(intent);
            else
            {
                if (mustLook) TakeOver();
                await proposals.ProposeAsync(key => new IntentRecord(key, behind), stopping);
            }

            lock (_gate) _failures = 0;
        }
        catch (OperationCanceledException)
        {
            // The replica has stopped.
        }
        catch (CorfuException e)
        {
            // Nothing was sent: a turn after the pause looks again.
            Pause(e);
        }
        finally
        {
            lock (_gate) _isIntending = false;
        }
    }

    private void TakeOver()
    {
        lock (_gate) _takeovers = Math.Min(_takeovers + 1, MostTakeovers);
    }

    private void Pause(Exception reason)
    {
        lock (_gate)
        {
            Failure = reason;
            _failed = options.Time.GetTimestamp();
            _pause = BackOff.After(++_failures, s_pause, s_longestPause, options.Entropy);
        }
    }

    private void Finish(LogPosition intent)
    {
        lock (_gate)
        {
            if (_lastIntent != intent) return;
            _isDone = true;
            _takeovers = 0;
        }
    }
}
