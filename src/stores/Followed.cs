using Tango;

namespace Corfu;

/// <summary>The newest state that this process has played of an object of the log. One loop follows the log for all
/// that wait. Thread-safe.</summary>
internal sealed class Followed<TState> : IAsyncDisposable
    where TState : class
{
    private static readonly TimeSpan s_retry = TimeSpan.FromMilliseconds(100);

    private readonly FollowedObject<TState> _object;
    private readonly Action<TState>? _changed;
    private readonly TimeProvider _time;
    private readonly CancellationTokenSource _stop = new();
    private readonly Lock _gate = new();
    private readonly Task _following;

    // Written under _gate; its revision never falls.
    private TState _state;

    // Guarded by _gate. Completes when _state changes.
    private TaskCompletionSource _next = NewChange();

    /// <param name="first">A state that was read before.</param>
    /// <param name="changed">Called with each new state. Two calls may come at once, in any order. Quick.</param>
    public Followed(FollowedObject<TState> followed, TState first, Action<TState>? changed, TimeProvider time,
        LoopContext loops)
    {
        (_object, _state, _changed, _time) = (followed, first, changed, time);
        _following = loops.RunAsync(FollowAsync);
    }

    public TState State => Volatile.Read(ref _state);

    /// <summary>Waits for a state newer than that one.</summary>
    public async ValueTask<TState> WaitAsync(TState after, CancellationToken cancellationToken)
    {
        while (true)
        {
            Task changed;
            lock (_gate)
            {
                if (_object.RevisionOf(_state) > _object.RevisionOf(after)) return _state;
                ObjectDisposedException.ThrowIf(_stop.IsCancellationRequested, this);
                changed = _next.Task;
            }

            await changed.WaitOrCancelAsync(cancellationToken);
            cancellationToken.ThrowIfCancellationRequested();
        }
    }

    /// <summary>Takes a state that was read, unless it is older.</summary>
    /// <returns>The state; the same instance for the same revision.</returns>
    public TState Take(TState state)
    {
        TaskCompletionSource changed;
        lock (_gate)
        {
            var (revision, known) = (_object.RevisionOf(state), _object.RevisionOf(_state));
            if (revision <= known) return revision == known ? _state : state;
            Volatile.Write(ref _state, state);
            (changed, _next) = (_next, NewChange());
        }

        changed.SetResult();
        _changed?.Invoke(state);
        return state;
    }

    public async ValueTask DisposeAsync()
    {
        _stop.Cancel();
        await _following;
        lock (_gate) _next.TrySetResult();
    }

    private static TaskCompletionSource NewChange() => new(TaskCreationOptions.RunContinuationsAsynchronously);

    private async Task FollowAsync()
    {
        while (!_stop.IsCancellationRequested)
        {
            try
            {
                Take(await _object.WaitForAsync(_object.RevisionOf(State), _stop.Token));
            }
            catch (Exception e) when (_stop.IsCancellationRequested || e is TangoObjectDeletedException)
            {
                return;
            }
            catch (Exception)
            {
                // The log is away, or playback has failed, which every call hears. The next look tells.
                await Task.Delay(s_retry, _time, CancellationToken.None);
            }
        }
    }
}

/// <param name="RevisionOf">Rises with every change of the state.</param>
/// <param name="WaitForAsync">A state behind that revision, as soon as this process has played one.</param>
internal sealed record FollowedObject<TState>(
    Func<TState, long> RevisionOf, Func<long, CancellationToken, ValueTask<TState>> WaitForAsync);
