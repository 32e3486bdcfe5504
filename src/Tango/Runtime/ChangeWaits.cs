using Corfu.Protocol;
using Tango.Playback;

namespace Tango.Runtime;

/// <summary>Callers that wait until an object has changed here. While there are any, the runtime plays now and then;
/// what is played for others ends their waits, too.</summary>
/// <param name="interval">Between two checks of the log.</param>
internal sealed class ChangeWaits(
    Func<Player> player, TimeSpan interval, TimeProvider time, LoopContext loops, CancellationToken lifetime)
{
    private readonly Lock _gate = new();

    // Guarded by _gate.
    private readonly List<Waiter> _waiters = [];
    private bool _isRunning;

    /// <summary>Completes when the object's published view has writes above <paramref name="seen"/>, or was lost; and
    /// now and then without reason.</summary>
    public async ValueTask WaitAsync(HostedObject hosted, LogPosition seen, CancellationToken cancellationToken)
    {
        var waiter = new Waiter(hosted, seen);
        lock (_gate)
        {
            if (waiter.IsOver(player().Published)) return;
            _waiters.Add(waiter);
            if (!_isRunning)
            {
                _isRunning = true;
                loops.Start(RunAsync);
            }
        }

        try
        {
            await waiter.Over.Task.WaitOrCancelAsync(cancellationToken);
        }
        finally
        {
            lock (_gate) _waiters.Remove(waiter);
        }
    }

    /// <summary>At the end of a cycle.</summary>
    public void OnPlayed()
    {
        lock (_gate)
        {
            var published = player().Published;
            foreach (var waiter in _waiters)
            {
                if (waiter.IsOver(published)) waiter.Over.TrySetResult();
            }
        }
    }

    private async Task RunAsync()
    {
        while (HasWaiters())
        {
            try
            {
                await Task.Delay(interval, time, lifetime);
                await player().CatchUpAsync();
            }
            catch (Exception)
            {
                // Each reads again and hears what is wrong.
                lock (_gate) _waiters.ForEach(static waiter => waiter.Over.TrySetResult());
            }
        }
    }

    private bool HasWaiters()
    {
        lock (_gate) return _isRunning = _waiters.Count > 0 && !lifetime.IsCancellationRequested;
    }

    private sealed record Waiter(HostedObject Hosted, LogPosition Seen)
    {
        public TaskCompletionSource Over { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public bool IsOver(PublishedViews published) =>
            published.Of(Hosted) is var view && (view.LastWriteEnd != Seen || view.Stopped is not null);
    }
}
