using Corfu.Protocol;

namespace Corfu.Protocol.Tests;

public class FineTimeProviderTests
{
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(20);

    private static CancellationToken Stop => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Timers_fire_once_each_and_never_before_their_time()
    {
        var time = FineTimeProvider.Instance;
        var fired = new int[200];
        var early = 0;
        var all = new CountdownEvent(fired.Length);
        var timers = Enumerable.Range(0, fired.Length).Select(i =>
        {
            var due = TimeSpan.FromMicroseconds(50 + (i * 7919 % 5000));
            var began = time.GetTimestamp();
            return time.CreateTimer(
                _ =>
                {
                    if (time.GetElapsedTime(began) < due) Interlocked.Increment(ref early);
                    if (Interlocked.Increment(ref fired[i]) == 1) all.Signal();
                },
                null,
                due,
                Timeout.InfiniteTimeSpan);
        }).ToList();
        Assert.True(await Task.Run(() => all.Wait(Limit, Stop), Stop));
        foreach (var timer in timers) await timer.DisposeAsync();
        Assert.Equal(0, early);
        Assert.All(fired, count => Assert.Equal(1, count));
    }

    [Fact]
    public async Task A_timer_that_was_disposed_or_stopped_does_not_fire_and_one_that_was_moved_fires_when_it_is_due()
    {
        var time = FineTimeProvider.Instance;
        var fired = 0;
        var moved = new TaskCompletionSource();
        var disposed = time.CreateTimer(_ => Interlocked.Increment(ref fired), null, TimeSpan.FromMilliseconds(5), Timeout.InfiniteTimeSpan);
        var stopped = time.CreateTimer(_ => Interlocked.Increment(ref fired), null, TimeSpan.FromMilliseconds(5), Timeout.InfiniteTimeSpan);
        var later = time.CreateTimer(_ => moved.SetResult(), null, TimeSpan.FromMilliseconds(5), Timeout.InfiniteTimeSpan);
        disposed.Dispose();
        Assert.True(stopped.Change(Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan));
        Assert.True(later.Change(TimeSpan.FromMilliseconds(30), Timeout.InfiniteTimeSpan));
        Assert.False(disposed.Change(TimeSpan.FromMilliseconds(1), Timeout.InfiniteTimeSpan));
        await moved.Task.WaitAsync(Limit, Stop);
        Assert.Equal(0, fired);
    }

    [Fact]
    public async Task Long_and_repeated_timers_are_those_of_the_system()
    {
        var ticks = new CountdownEvent(3);
        await using var timer = FineTimeProvider.Instance.CreateTimer(
            _ =>
            {
                if (!ticks.IsSet) ticks.Signal();
            },
            null,
            TimeSpan.FromMilliseconds(1),
            TimeSpan.FromMilliseconds(1));
        Assert.True(await Task.Run(() => ticks.Wait(Limit, Stop), Stop));
        await Task.Delay(FineTimeProvider.Longest * 2, FineTimeProvider.Instance, Stop);
    }
}
