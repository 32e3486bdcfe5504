namespace Corfu.Storage.Tests;

public sealed class ThreadWorkersTests
{
    [Fact]
    public async Task Worker_runs_a_step_for_each_caller_that_waits()
    {
        var steps = 0;
        await using var worker = Start(() => Interlocked.Increment(ref steps));
        await worker.RunAsync();
        await worker.RunAsync();
        Assert.True(Volatile.Read(ref steps) >= 2);
    }

    [Fact]
    public async Task Kick_during_a_step_causes_a_second_step()
    {
        var second = new TaskCompletionSource();
        var steps = 0;
        IWorker? kicked = null;
        await using var worker = Start(() =>
        {
            if (++steps == 1) kicked!.Kick();
            else second.TrySetResult();
        });
        kicked = worker;
        worker.Kick();
        await second.Task.WaitAsync(TimeSpan.FromSeconds(30));
    }

    [Fact]
    public async Task Worker_that_fails_reports_once_and_frees_the_waiters()
    {
        var failed = new TaskCompletionSource<Exception>();
        await using var worker = ThreadWorkers.Instance.Create("test",
            () => throw new IOException("full"), error => failed.SetResult(error));
        worker.Start();
        await worker.RunAsync();
        Assert.Equal("full", (await failed.Task).Message);
        await worker.RunAsync();
    }

    [Fact]
    public async Task Disposal_takes_a_last_step()
    {
        var last = false;
        IWorker? stopped = null;
        var worker = Start(() => last = stopped!.IsStopping);
        stopped = worker;
        await worker.DisposeAsync();
        Assert.True(last);
    }

    private static IWorker Start(Action step)
    {
        var worker = ThreadWorkers.Instance.Create("test", () =>
        {
            step();
            return ValueTask.CompletedTask;
        }, error => Assert.Fail(error.Message));
        worker.Start();
        return worker;
    }
}
