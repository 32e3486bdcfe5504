using System.Collections.Immutable;
using Corfu;
using Tango.Chores;

namespace Tango.Feeds;

/// <summary>
/// Feeds whose readers have seen everything share one check of the log. It says which of them have news; these read
/// them by themselves. A feed without news costs no request of its own.
/// </summary>
internal sealed class FeedPoll(ICorfuLog log, TimeProvider time, ChoreLoop chores, CancellationToken lifetime)
    : IChore
{
    // Streams in one request.
    private const int MaxStreams = 256;

    private readonly Lock _gate = new();

    // Guarded by _gate.
    private readonly List<WaitingFeed> _waiters = [];

    /// <summary>Completes when the feed has something to do, or it is not known that it has not.</summary>
    public async ValueTask WaitAsync(FeedWait wait, CancellationToken cancellationToken)
    {
        var waiter = new WaitingFeed(wait, time.GetTimestamp());
        lock (_gate) _waiters.Add(waiter);
        chores.Schedule(this, wait.Interval);
        using var end = lifetime.UnsafeRegister(
            static over => ((TaskCompletionSource)over!).TrySetResult(), waiter.Over);
        try
        {
            await waiter.Over.Task.WaitOrCancelAsync(cancellationToken);
        }
        finally
        {
            lock (_gate) _waiters.Remove(waiter);
        }
    }

    public async Task<TimeSpan?> RunAsync()
    {
        try
        {
            await LookAsync();
        }
        catch (Exception)
        {
            // Each asks the log by itself and hears what is wrong.
            foreach (var waiter in ListWaiters()) waiter.Over.TrySetResult();
        }

        lock (_gate) return _waiters.Count > 0 ? _waiters.Min(static waiter => waiter.Wait.Interval) : null;
    }

    private async ValueTask LookAsync()
    {
        var waiters = ListWaiters();
        var newest = new Dictionary<StreamId, LogPosition>();
        var tail = LogPosition.Zero;
        foreach (var asked in waiters.SelectMany(static waiter => waiter.Wait.Streams).Distinct().Chunk(MaxStreams))
        {
            var check = await log.CheckAsync([.. asked], ReadConsistency.Session, lifetime);
            tail = check.Tail;
            foreach (var stream in check.Streams)
            {
                if (!stream.Positions.IsDefaultOrEmpty) newest[stream.Stream] = stream.Positions[0];
            }
        }

        foreach (var waiter in waiters)
        {
            if (IsOver(waiter)) waiter.Over.TrySetResult();
        }

        bool IsOver(WaitingFeed waiter)
        {
            var wait = waiter.Wait;
            // R10: of another epoch, positions that were granted may be granted anew.
            return tail >= wait.End || tail.Epoch != wait.Seen.Epoch
                || wait.Streams.Any(stream => newest.TryGetValue(stream, out var last) && last >= wait.Seen)
                || time.GetElapsedTime(waiter.Since) >= wait.Longest;
        }
    }

    private WaitingFeed[] ListWaiters()
    {
        lock (_gate) return [.. _waiters];
    }

    private sealed record WaitingFeed(FeedWait Wait, long Since)
    {
        public TaskCompletionSource Over { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);
    }
}

/// <summary>Events that a feed waits for: an entry in one of its streams, or other work that is due.</summary>
/// <param name="Interval">Between two checks. The shortest of those that wait counts.</param>
/// <param name="Seen">Answer of the feed's last check: the feed knows all entries below.</param>
/// <param name="End">Position at which the feed tells how far the log has grown.</param>
/// <param name="Longest">Then its claim is due.</param>
internal sealed record FeedWait(
    ImmutableArray<StreamId> Streams, TimeSpan Interval, LogPosition Seen, LogPosition End, TimeSpan Longest);
