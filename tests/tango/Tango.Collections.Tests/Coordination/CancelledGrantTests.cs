using Corfu;
using Tango.Testing;

namespace Tango.Collections.Tests;

/// <summary>Callers that are cancelled while the record is sent that grants a lease: no process would renew it or end
/// it.</summary>
public sealed class CancelledGrantTests : IAsyncDisposable
{
    private static readonly TimeSpan s_ttl = TimeSpan.FromHours(1);

    private readonly TaskCompletionSource _go = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly TaskCompletionSource _isSending = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly TangoRuntime _runtime;
    private volatile bool _holds;

    public CancelledGrantTests()
    {
        var log = new InMemoryCorfuLog(new InMemoryLogOptions
        {
            AroundAppend = async _ =>
            {
                if (!_holds) return;
                _isSending.TrySetResult();
                await _go.Task;
            },
        });
        _runtime = new TangoRuntime(log, log.OpenCursor, TimeProvider.System, SystemEntropy.Instance);
    }

    private static CancellationToken Stop => TestContext.Current.CancellationToken;

    public ValueTask DisposeAsync() => _runtime.DisposeAsync();

    [Fact]
    public async Task Acquire_cancelled_while_being_sent_leaves_the_line()
    {
        var mutex = await _runtime.OpenAsync<TangoLock>("lock", OpenMode.Create, Stop);
        await CancelAsync(stop => mutex.AcquireAsync(s_ttl, "gone", stop).AsTask());
        await using HeldLock held = await mutex.AcquireAsync(s_ttl, "next", Stop);
        Assert.Equal("next", (await mutex.HolderAsync(Stop)).Value.Owner);
    }

    [Fact]
    public async Task Receive_cancelled_while_being_sent_gives_the_item_back()
    {
        var queue = await _runtime.OpenAsync<TangoWorkQueue<string>>("queue", OpenMode.Create, Stop);
        await queue.EnqueueAsync("a", Stop);
        await CancelAsync(stop => queue.ReceiveAsync(s_ttl, stop).AsTask());
        await using Delivery<string> delivery = await queue.ReceiveAsync(s_ttl, Stop);
        Assert.Equal("a", delivery.Value);
    }

    [Fact]
    public async Task Receive_that_is_cancelled_while_entering_leaves_the_line()
    {
        var queue = await _runtime.OpenAsync<TangoWorkQueue<string>>("queue", OpenMode.Create, Stop);
        await CancelAsync(stop => queue.ReceiveAsync(s_ttl, stop).AsTask());
        // Not for the one that was cancelled, which would keep it for an hour.
        Task<Delivery<string>> receiving = queue.ReceiveAsync(s_ttl, Stop).AsTask();
        await queue.EnqueueAsync("a", Stop);
        await using Delivery<string> delivery = await receiving;
        Assert.Equal("a", delivery.Value);
    }

    [Fact]
    public async Task Grant_cancelled_while_being_sent_ends()
    {
        var map = await _runtime.OpenAsync<TangoLeasedDictionary<string, int>>("map", OpenMode.Create, Stop);
        await CancelAsync(stop => map.GrantAsync(s_ttl, stop).AsTask());
        await foreach (var change in _runtime.History.ChangesAsync<TangoLeasedDictionary<string, int>>(
            "map", LogPosition.Zero, cancellationToken: Stop))
        {
            if (change.Mutator?.Name == "End") break;
        }
    }

    private async Task CancelAsync(Func<CancellationToken, Task> call)
    {
        using var stop = new CancellationTokenSource();
        _holds = true;
        Task running = call(stop.Token);
        await _isSending.Task;
        await stop.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => running);
        _holds = false;
        _go.SetResult();
    }
}
