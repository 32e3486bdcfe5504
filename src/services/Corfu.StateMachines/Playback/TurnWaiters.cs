using Corfu.StateMachines.State;

namespace Corfu.StateMachines.Playback;

/// <summary>Callers that wait for turns of a playback, and the signal that begins one. Safe for concurrent
/// use.</summary>
internal sealed class TurnWaiters
{
    private readonly Lock _gate = new();

    // Guarded by _gate, as all below.
    private TaskCompletionSource _signal = New();
    private Turn _next = new();
    private readonly List<(LogPosition Position, TaskCompletionSource Promise)> _positions = [];
    private Exception? _stopped;

    public void Wake()
    {
        lock (_gate) _signal.TrySetResult();
    }

    /// <summary>Waits until a turn is wanted.</summary>
    public Task NextAsync()
    {
        lock (_gate) return _signal.Task;
    }

    /// <summary>The turn that begins now, with those that wait for it.</summary>
    public Turn Begin()
    {
        lock (_gate)
        {
            if (_signal.Task.IsCompleted) _signal = New();
            return Interlocked.Exchange(ref _next, new Turn());
        }
    }

    /// <summary>The turn has failed, and its callers wait for the next one.</summary>
    public void Again(Turn turn)
    {
        lock (_gate)
        {
            // No turn follows a stop.
            if (_stopped is not null) turn.Fail(_stopped);
            else _next.Take(turn);
        }
    }

    /// <summary>Waits for a turn that begins after the call.</summary>
    public Task NextTurnAsync(CancellationToken cancellationToken)
    {
        lock (_gate)
        {
            if (_stopped is not null) throw _stopped;
            _signal.TrySetResult();
            return _next.Linearizable.Task.WaitOrCancelAsync(cancellationToken);
        }
    }

    public Task<CapturedState> CaptureAsync(CancellationToken cancellationToken)
    {
        var promise = new TaskCompletionSource<CapturedState>(TaskCreationOptions.RunContinuationsAsynchronously);
        lock (_gate)
        {
            if (_stopped is not null) throw _stopped;
            _next.Captures.Add(promise);
            _signal.TrySetResult();
        }

        return promise.OrCancelAsync(cancellationToken);
    }

    public async Task PositionAsync(
        LogPosition position, Func<LogPosition> applied, CancellationToken cancellationToken)
    {
        var promise = New();
        lock (_gate)
        {
            if (_stopped is not null) throw _stopped;
            if (applied() > position) return;
            _positions.Add((position, promise));
            _signal.TrySetResult();
        }

        try
        {
            await promise.Task.WaitOrCancelAsync(cancellationToken);
        }
        finally
        {
            lock (_gate) _positions.RemoveAll(waiter => waiter.Promise == promise);
        }
    }

    /// <summary>Whether a caller waits for a position below.</summary>
    public bool IsWaitingBelow(LogPosition end)
    {
        lock (_gate) return _positions.Exists(waiter => waiter.Position < end && !waiter.Promise.Task.IsCompleted);
    }

    public void Reach(LogPosition applied)
    {
        lock (_gate)
        {
            foreach (var (position, promise) in _positions)
            {
                if (applied > position) promise.TrySetResult();
            }
        }
    }

    public void Stop(Exception reason)
    {
        lock (_gate)
        {
            _stopped ??= reason;
            _next.Fail(_stopped);
            foreach (var (_, promise) in _positions) promise.TrySetException(_stopped);
            _signal.TrySetResult();
        }
    }

    private static TaskCompletionSource New() => new(TaskCreationOptions.RunContinuationsAsynchronously);

    /// <summary>A turn, and the callers that wait for its end.</summary>
    internal sealed class Turn
    {
        // Callers of turns before. A flat list: a log that is not reached for long makes many turns.
        private readonly List<TaskCompletionSource> _taken = [];
        private TaskCompletionSource? _linearizable;

        /// <summary>Completes at the turn's end. To ask for it makes the turn's check linearizable.</summary>
        public TaskCompletionSource Linearizable => _linearizable ??= New();

        public List<TaskCompletionSource<CapturedState>> Captures { get; } = [];

        public bool IsLinearizable => _linearizable is not null || _taken.Count > 0;

        /// <summary>Takes over the callers of a turn before.</summary>
        public void Take(Turn turn)
        {
            _taken.AddRange(turn._taken);
            if (turn._linearizable is { } linearizable) _taken.Add(linearizable);
            Captures.AddRange(turn.Captures.Where(static capture => !capture.Task.IsCompleted));
        }

        public void Complete()
        {
            _linearizable?.TrySetResult();
            foreach (var promise in _taken) promise.TrySetResult();
        }

        public void Fail(Exception reason)
        {
            _linearizable?.TrySetException(reason);
            foreach (var capture in Captures) capture.TrySetException(reason);
            foreach (var promise in _taken) promise.TrySetException(reason);
        }
    }
}
