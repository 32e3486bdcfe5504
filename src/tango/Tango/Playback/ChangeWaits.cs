using Corfu;
using Tango.Chores;
using Tango.Model;

namespace Tango.Playback;

/// <summary>Callers that wait until an object has changed here. While there are any, the runtime plays now and then;
/// what is played for others ends their waits, too.</summary>
/// <param name="interval">Between two checks of the log.</param>
internal sealed class ChangeWaits(Player player, TimeSpan interval, ChoreLoop chores, CancellationToken lifetime)
    : IChore
{
    private readonly Lock _gate = new();

    // Guarded by _gate.
    private readonly LinkedList<Waiter> _waiters = [];

    /// <summary>Completes when the object's published view is the one that is waited for, was lost or has stopped.
    /// </summary>
    /// <param name="until">Called for what is published, at the end of a cycle that others wait for. If it throws, the
    /// wait is over.</param>
    /// <returns>False: the log could not be asked for changes. The caller asks, to hear what is wrong.</returns>
    public async ValueTask<bool> WaitAsync(
        HostedObject hosted, Func<FrozenView, bool> until, CancellationToken cancellationToken)
    {
        var waiter = new Waiter(hosted, until);
        LinkedListNode<Waiter> place;
        lock (_gate)
        {
            if (waiter.IsOver(player.Published)) return true;
            // By its place it goes at once, however many others there are.
            place = _waiters.AddLast(waiter);
        }

        chores.Schedule(this, interval);
        using var end = lifetime.UnsafeRegister(
            static over => ((TaskCompletionSource<bool>)over!).TrySetResult(false), waiter.Over);
        try
        {
            await waiter.Over.Task.WaitOrCancelAsync(cancellationToken);
            return await waiter.Over.Task;
        }
        finally
        {
            lock (_gate) _waiters.Remove(place);
        }
    }

    /// <summary>At the end of a cycle.</summary>
    public void OnPlayed(LogPosition end)
    {
        lock (_gate)
        {
            var published = player.Published;
            foreach (var waiter in _waiters)
            {
                if (waiter.IsOver(published)) waiter.Over.TrySetResult(true);
            }
        }
    }

    public async Task<TimeSpan?> RunAsync()
    {
        try
        {
            await player.CatchUpAsync();
        }
        catch (Exception)
        {
            lock (_gate)
            {
                foreach (var waiter in _waiters) waiter.Over.TrySetResult(false);
            }
        }

        lock (_gate) return _waiters.Count > 0 ? interval : null;
    }

    private sealed record Waiter(HostedObject Hosted, Func<FrozenView, bool> Until)
    {
        public TaskCompletionSource<bool> Over { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public bool IsOver(PublishedViews published)
        {
            var view = published.Of(Hosted);
            try
            {
                return view.Stopped is not null || view.View is null || Until(view);
            }
            catch (Exception)
            {
                // The waiter tests the view itself, and throws it to its caller.
                return true;
            }
        }
    }
}
