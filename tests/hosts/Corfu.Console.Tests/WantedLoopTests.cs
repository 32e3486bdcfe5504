using Corfu.WebConsole.Collecting;

namespace Corfu.WebConsole.Tests;

/// <summary>The loop that keeps the pages new.</summary>
public sealed class WantedLoopTests
{
    private static readonly TimeSpan s_interval = TimeSpan.FromMilliseconds(5);

    [Fact]
    public async Task Loop_goes_on_after_a_round_that_failed()
    {
        var (rounds, failures) = (0, new List<string>());
        var third = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        await using var loop = new WantedLoop(TimeProvider.System, s_interval, TimeSpan.FromMinutes(1), _ =>
        {
            rounds++;
            if (rounds < 3) throw new InvalidOperationException($"round {rounds}");
            third.TrySetResult();
            return Task.CompletedTask;
        }, failure => failures.Add(failure.Message));
        Assert.True(loop.Wake());
        await third.Task.WaitAsync(TestContext.Current.CancellationToken);
        Assert.Equal(["round 1", "round 2"], failures);
        Assert.False(loop.Wake());
    }

    [Fact]
    public async Task Loop_rests_without_pages_and_begins_again()
    {
        var rounds = 0;
        var third = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        await using var loop = new WantedLoop(TimeProvider.System, s_interval, TimeSpan.Zero, _ =>
        {
            if (++rounds == 3) third.TrySetResult();
            return Task.CompletedTask;
        }, static failure => Assert.Fail(failure.Message));
        var page = loop.Hold();
        await third.Task.WaitAsync(TestContext.Current.CancellationToken);
        page.Dispose();
        var starts = 0;
        while (!loop.Wake(() => starts++)) await Task.Delay(1, TestContext.Current.CancellationToken);
        Assert.Equal(1, starts);
    }

    [Fact]
    public async Task Disposal_waits_for_the_round_and_starts_none()
    {
        var began = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var ended = false;
        var loop = new WantedLoop(TimeProvider.System, s_interval, TimeSpan.FromMinutes(1), async stop =>
        {
            began.TrySetResult();
            await Task.Delay(Timeout.InfiniteTimeSpan, stop).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            ended = true;
        }, static failure => Assert.Fail(failure.Message));
        loop.Wake();
        await began.Task.WaitAsync(TestContext.Current.CancellationToken);
        await loop.DisposeAsync();
        Assert.True(ended);
        Assert.False(loop.Wake());
    }
}
