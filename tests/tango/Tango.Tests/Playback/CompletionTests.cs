using System.Runtime.CompilerServices;
using Tango.Playback;

namespace Tango.Tests.Playback;

public class CompletionTests
{
    [Fact]
    public async Task End_reaches_every_wait_also_later_waits()
    {
        using var unused = new CancellationTokenSource();
        var (done, failed) = (new Completion(), new Completion());
        Task[] waits = [done.WaitAsync(default), done.WaitAsync(unused.Token)];
        Task[] failing = [failed.WaitAsync(default), failed.WaitAsync(unused.Token)];
        done.End(null);
        failed.End(new TimeoutException());
        await Task.WhenAll([.. waits, done.WaitAsync(unused.Token)]);
        foreach (var wait in failing.Append(failed.WaitAsync(unused.Token)))
            await Assert.ThrowsAsync<TimeoutException>(() => wait);
    }

    [Fact]
    public async Task Cancelled_wait_is_collected()
    {
        var completion = new Completion();
        var waits = Enumerable.Range(0, 100).Select(_ => Cancelled(completion)).ToArray();
        foreach (var wait in waits) await Eventually(wait);
        GC.Collect();
        // The frames of this test may still hold the last one.
        Assert.InRange(waits.Count(static wait => wait.TryGetTarget(out _)), 0, 1);
        completion.End(null);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static WeakReference<Task> Cancelled(Completion completion)
    {
        using var cancel = new CancellationTokenSource();
        var wait = completion.WaitAsync(cancel.Token);
        cancel.Cancel();
        return new WeakReference<Task>(wait);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static async Task Eventually(WeakReference<Task> wait)
    {
        if (wait.TryGetTarget(out var task))
            await Assert.ThrowsAnyAsync<OperationCanceledException>(() => task);
    }
}
