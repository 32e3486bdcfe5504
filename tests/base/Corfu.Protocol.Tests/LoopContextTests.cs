namespace Corfu.Protocol.Tests;

/// <summary>Shared work inherits nothing from the call that starts it.</summary>
public class LoopContextTests
{
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Work_has_neither_the_context_nor_the_ambient_values_of_the_caller(bool hasContext)
    {
        var ambient = new AsyncLocal<int> { Value = 1 };
        var before = SynchronizationContext.Current;
        var own = hasContext ? new SynchronizationContext() : null;
        SynchronizationContext.SetSynchronizationContext(own);
        var seen = LoopContext.Pool.RunAsync(LookAsync);
        Assert.Same(own, SynchronizationContext.Current);
        SynchronizationContext.SetSynchronizationContext(before);
        Assert.Equal(1, ambient.Value);
        Assert.All(await seen, found => Assert.Equal((null, TaskScheduler.Default, 0), found));

        async Task<List<(SynchronizationContext?, TaskScheduler, int)>> LookAsync()
        {
            var first = (SynchronizationContext.Current, TaskScheduler.Current, ambient.Value);
            await Task.Yield();
            return [first, (SynchronizationContext.Current, TaskScheduler.Current, ambient.Value)];
        }
    }

    [Fact]
    public async Task Work_leaves_the_scheduler_of_the_caller()
    {
        var scheduler = new ConcurrentExclusiveSchedulerPair().ExclusiveScheduler;
        var started = new TaskCompletionSource<TaskScheduler>();
        await Task.Factory.StartNew(
            () => LoopContext.Pool.Start(() =>
            {
                started.SetResult(TaskScheduler.Current);
                return Task.CompletedTask;
            }),
            CancellationToken.None, TaskCreationOptions.None, scheduler);
        Assert.Same(TaskScheduler.Default, await started.Task);
    }

    [Fact]
    public async Task Work_stays_on_the_context_that_was_given()
    {
        var posted = 0;
        var only = new CountingContext(() => posted++);
        var seen = await new LoopContext(only).RunAsync(() => Task.FromResult(SynchronizationContext.Current));
        Assert.Same(only, seen);
        Assert.Equal(1, posted);
    }

    private sealed class CountingContext(Action count) : SynchronizationContext
    {
        public override void Post(SendOrPostCallback d, object? state)
        {
            count();
            base.Post(
                _ =>
                {
                    SetSynchronizationContext(this);
                    d(state);
                    SetSynchronizationContext(null);
                },
                null);
        }
    }
}
