using Microsoft.Extensions.Logging.Abstractions;

namespace Corfu.Detection.Tests;

public sealed class AgentLoopTests
{
    private static readonly TimeSpan Never = TimeSpan.FromHours(1);

    private static AgentLoop NewLoop() => new(new AgentClock(TimeProvider.System), NullLogger.Instance);

    [Fact]
    public async Task Parts_started_from_many_threads_never_run_at_once()
    {
        var loop = NewLoop();
        var (running, most, count) = (0, 0, 0);
        var started = Enumerable.Range(0, 100).Select(_ => Task.Run(() => loop.Run(async () =>
        {
            for (var i = 0; i < 20; i++)
            {
                most = Math.Max(most, Interlocked.Increment(ref running));
                // Not atomic: a part at the same time would overwrite it.
                count++;
                Interlocked.Decrement(ref running);
                await Task.Yield();
            }
        })));
        await Task.WhenAll(started);
        Assert.Equal((1, 2000), (most, count));
    }

    [Fact]
    public async Task Step_comes_earlier_on_request()
    {
        var loop = NewLoop();
        using var stop = new CancellationTokenSource();
        var again = new TaskCompletionSource();
        var steps = 0;
        var running = loop.RunAsync(
            () =>
            {
                if (++steps == 2) again.SetResult();
                return Never;
            },
            Never, stop.Token);
        loop.Start(() =>
        {
            loop.StepWithin(TimeSpan.FromMilliseconds(1));
            return Task.CompletedTask;
        });
        await again.Task.WaitAsync(TestContext.Current.CancellationToken);
        await stop.CancelAsync();
        await running;
        Assert.Equal(2, steps);
    }

    [Fact]
    public async Task Step_that_asks_for_an_earlier_step_is_repeated_at_once()
    {
        var loop = NewLoop();
        using var stop = new CancellationTokenSource();
        var steps = 0;
        await loop.RunAsync(
            () =>
            {
                if (++steps == 3) stop.Cancel();
                loop.StepWithin(TimeSpan.Zero);
                return Never;
            },
            Never, stop.Token);
        Assert.Equal(3, steps);
    }

    [Fact]
    public async Task Loop_goes_on_after_a_failed_step()
    {
        var loop = NewLoop();
        using var stop = new CancellationTokenSource();
        var steps = 0;
        await loop.RunAsync(
            () =>
            {
                if (++steps < 3) throw new InvalidOperationException("planted");
                stop.Cancel();
                return Never;
            },
            TimeSpan.FromMilliseconds(1), stop.Token);
        Assert.Equal(3, steps);
    }
}
