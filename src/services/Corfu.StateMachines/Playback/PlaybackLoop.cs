using Corfu.StateMachines.Records;
using Corfu.StateMachines.Snapshots;
using Corfu.StateMachines.State;

namespace Corfu.StateMachines.Playback;

/// <summary>Plays a machine's stream, turn by turn. A turn asks for the tail, plays up to it, and lets go all that
/// waited for it. The only user of the cursor and the only writer of the state.</summary>
internal sealed class PlaybackLoop(
    ICorfuLog log, StreamId stream, ReplicaOptions options, Func<IStateMachine> create, SnapshotLoader snapshots)
{
    private static readonly TimeSpan s_pause = TimeSpan.FromMilliseconds(20);
    private static readonly TimeSpan s_longestPause = TimeSpan.FromSeconds(1);

    // Held for writing around each entry, for reading around each query.
    private readonly ReaderWriterLockSlim _access = new();
    private readonly CancellationTokenSource _stopping = new();
    private readonly TurnWaiters _waiters = new();
    private MachineState _state = new(create());
    private StreamCursor _cursor = new(log, stream);

    // Guarded by _access. Invariant: set before anything is served or captured of a state that is half played (M10).
    private Exception? _stopped;
    private int _isToldStopped;
    private long _applied;

    // Tail of the newest turn. The loop alone uses this, and what is below.
    private LogPosition _tail;

    // Turns in a row that met a damaged page.
    private int _corruptTurns;

    /// <summary>Hears of entries, on the loop. Set before the loop starts.</summary>
    public IPlaybackListener Listener { get; set; } = null!;

    /// <summary>All below is played. Also read by others than the loop.</summary>
    public LogPosition Applied => new(Volatile.Read(ref _applied));

    /// <summary>Also read by others than the loop.</summary>
    public PlayedMark Played => _state.Played;

    public ConfigureRecord? Configured => _state.Configured;

    /// <summary>Plays up to the log's tail before the loop starts: the caller's own turns.</summary>
    public async Task OpenAsync(CancellationToken cancellationToken)
    {
        if (await snapshots.LoadAsync(LogPosition.Zero, cancellationToken) is { } loaded) GoOnFrom(loaded);
        await PlayToTailOrReloadAsync(cancellationToken);
    }

    public async Task PlayToTailOrReloadAsync(CancellationToken cancellationToken)
    {
        while (true)
        {
            try
            {
                await PlayAsync(ReadConsistency.Linearizable, cancellationToken);
                return;
            }
            catch (LogTrimmedException e)
            {
                await ReloadAsync(e, cancellationToken);
            }
        }
    }

    public async Task RunAsync()
    {
        await using var timer = options.Time.CreateTimer(
            static loop => ((PlaybackLoop)loop!).Wake(), this, options.PollInterval, options.PollInterval);
        try
        {
            for (var failures = 0; !_stopping.IsCancellationRequested;)
            {
                await _waiters.NextAsync();
                if (await TakeTurnAsync()) failures = 0;
                else
                    await Task.Delay(BackOff.After(++failures, s_pause, s_longestPause, options.Entropy), options.Time,
                        _stopping.Token);
            }
        }
        catch (OperationCanceledException) when (_stopping.IsCancellationRequested)
        {
        }
        catch (Exception e)
        {
            Stop(e);
        }
    }

    /// <summary>The next turn begins soon.</summary>
    public void Wake() => _waiters.Wake();

    /// <summary>Waits until all is played that was acknowledged before the call.</summary>
    // Invariant: the check of the turn that is waited for begins after the call. Else the query misses a command that
    // was acknowledged elsewhere before it began (M7).
    public Task PlayToTailAsync(CancellationToken cancellationToken) => Planted.Is("unchecked-query")
        ? Task.CompletedTask
        : _waiters.NextTurnAsync(cancellationToken);

    /// <summary>Waits until the entry at a position is played.</summary>
    public Task PlayToAsync(LogPosition position, CancellationToken cancellationToken) =>
        Applied > position ? Task.CompletedTask : _waiters.PositionAsync(position, () => Applied, cancellationToken);

    /// <summary>Captures the state between two entries.</summary>
    public Task<CapturedState> CaptureAsync(CancellationToken cancellationToken) =>
        _waiters.CaptureAsync(cancellationToken);

    /// <exception cref="MachineException">The replica has stopped.</exception>
    public T Read<T>(Func<IStateMachine, T> query)
    {
        _access.EnterReadLock();
        try
        {
            if (_stopped is { } reason) throw new MachineStoppedException(reason.Message, reason);
            return query(_state.Machine);
        }
        finally
        {
            _access.ExitReadLock();
        }
    }

    /// <summary>Ends the loop; nothing is served any more.</summary>
    public void Stop(Exception reason)
    {
        _access.EnterWriteLock();
        reason = _stopped ??= reason;
        _access.ExitWriteLock();
        if (Interlocked.Exchange(ref _isToldStopped, 1) == 1) return;
        _stopping.Cancel();
        _waiters.Stop(new MachineStoppedException(reason.Message, reason));
        Listener.OnStopped(reason);
    }

    /// <returns>False: the log could not be reached.</returns>
    private async Task<bool> TakeTurnAsync()
    {
        var turn = _waiters.Begin();

        // A position below the tail that playback has not come to may be of another stream: a check says whether.
        var isLinearizable = turn.IsLinearizable || _waiters.IsWaitingBelow(_tail);
        try
        {
            await PlayAsync(
                isLinearizable ? ReadConsistency.Linearizable : ReadConsistency.Session, _stopping.Token);
        }
        catch (LogTrimmedException e)
        {
            _waiters.Again(turn);
            return await TryReloadAsync(e);
        }
        catch (PageCorruptException e)
        {
            turn.Fail(e);
            return await TryPassOverAsync(e);
        }
        catch (CorfuException e) when (e is not MachineException)
        {
            turn.Fail(e);
            return false;
        }
        catch (Exception e)
        {
            // The loop ends, and no other turn takes over these callers.
            turn.Fail(new MachineStoppedException(e.Message, e));
            throw;
        }

        _corruptTurns = 0;
        foreach (var capture in turn.Captures) Capture(capture);
        turn.Complete();
        Listener.OnTurn(_state);
        return true;
    }

    /// <returns>False: the log could not be reached. The next turn meets the trim again.</returns>
    private async Task<bool> TryReloadAsync(LogTrimmedException trimmed)
    {
        try
        {
            await ReloadAsync(trimmed, _stopping.Token);
            return true;
        }
        catch (CorfuException e) when (e is not MachineException)
        {
            return false;
        }
        finally
        {
            Wake();
        }
    }

    /// <summary>Goes on from a snapshot beyond a damaged page, or waits for its repair.</summary>
    /// <returns>False: there is none, or it cannot be reached.</returns>
    /// <exception cref="MachineStoppedException">The page was damaged too often.</exception>
    private async Task<bool> TryPassOverAsync(PageCorruptException corrupt)
    {
        if (++_corruptTurns > options.Attempts)
            throw new MachineStoppedException(
                $"{corrupt.Message} No snapshot beyond {_state.Played.End} can be read.", corrupt);

        // The cursor keeps the page as it was read: another one sees the repair.
        _cursor = new StreamCursor(log, stream, _state.Played.End);
        try
        {
            if (await snapshots.LoadAsync(_state.Played.End, _stopping.Token) is not { } loaded) return false;
            GoOnFrom(loaded);
            _corruptTurns = 0;
            return true;
        }
        catch (CorfuException e) when (e is not MachineException)
        {
            return false;
        }
        finally
        {
            Wake();
        }
    }

    private async Task PlayAsync(ReadConsistency consistency, CancellationToken cancellationToken)
    {
        _tail = await _cursor.SyncAsync(consistency, cancellationToken);
        while (await _cursor.ReadNextAsync(cancellationToken) is { } entry) Play(entry);
        Advance(LogPosition.Max(_cursor.Position, _state.Played.End));

        // An entry below this tail is in the log for good, whatever its stream: no later epoch begins below it. All of
        // this stream's that stand below it are played. Of a weaker check's tail that does not hold.
        if (consistency == ReadConsistency.Linearizable) _waiters.Reach(_tail);
    }

    private void Play(LogEntry entry)
    {
        PlayedEntry played;
        _access.EnterWriteLock();
        try
        {
            if (_stopped is { } reason) throw new MachineStoppedException(reason.Message, reason);
            played = _state.Play(entry);
        }
        catch (Exception e)
        {
            // Under the lock: the next query finds the mark.
            _stopped ??= e;
            throw;
        }
        finally
        {
            _access.ExitWriteLock();
        }

        Listener.OnPlayed(played, _state);
    }

    private void Advance(LogPosition applied)
    {
        Volatile.Write(ref _applied, Math.Max(_applied, applied.Offset));
        Listener.OnPlayedUntil(applied);
        _waiters.Reach(applied);
    }

    private void Capture(TaskCompletionSource<CapturedState> capture)
    {
        if (capture.Task.IsCompleted) return;
        try
        {
            var captured = _state.Capture();
            if (!capture.TrySetResult(captured)) captured.Machine.Dispose();
        }
        catch (Exception e)
        {
            capture.TrySetException(e);
        }
    }

    // A snapshot at or below what is played here helps nothing: history is gone without one, and is not skipped.
    private async Task ReloadAsync(LogTrimmedException trimmed, CancellationToken cancellationToken)
    {
        var loaded = await snapshots.LoadAsync(_state.Played.End, cancellationToken);
        GoOnFrom(loaded ?? throw new MachineStoppedException(
            $"{trimmed.Message} No snapshot beyond {_state.Played.End} can be read.", trimmed));
    }

    private void GoOnFrom(MachineState loaded)
    {
        _access.EnterWriteLock();
        _state = loaded;
        _access.ExitWriteLock();
        _cursor = new StreamCursor(log, stream, loaded.Played.End);
        Listener.OnLoaded(loaded);
        Advance(loaded.Played.End);
    }
}

/// <summary>Hears what a playback does, on its loop.</summary>
internal interface IPlaybackListener
{
    void OnPlayed(in PlayedEntry entry, MachineState state);

    /// <summary>All below was played, or belongs to other streams for good.</summary>
    void OnPlayedUntil(LogPosition end);

    /// <summary>Playback goes on from a snapshot.</summary>
    void OnLoaded(MachineState state);

    /// <summary>Between turns, and so between entries.</summary>
    void OnTurn(MachineState state);

    void OnStopped(Exception reason);
}
