using Microsoft.Extensions.Hosting;

namespace Corfu.Extensions;

/// <summary>A host's client: connects once and closes with the host. The exception of the second type says that nothing
/// answers at the moment.</summary>
/// <param name="limit">How long the host's start waits.</param>
internal abstract class HostConnection<TClient, TAway>(TimeSpan limit, TimeProvider time)
    : IHostedService, IAsyncDisposable
    where TClient : class, IAsyncDisposable
    where TAway : CorfuException
{
    private static readonly TimeSpan RetryDelay = TimeSpan.FromMilliseconds(200);

    private readonly SemaphoreSlim _gate = new(1, 1);

    // Written once, under _gate.
    private volatile TClient? _client;

    // The failure of the newest attempt that failed. Written under _gate.
    private volatile TAway? _failure;

    /// <summary>Null until the first connection.</summary>
    public TClient? Current => _client;

    public Task<TClient> GetClientAsync(CancellationToken cancellationToken = default) =>
        Current is { } connected
            ? Task.FromResult(connected)
            // The others wait for it, whatever becomes of the caller's context.
            : LoopContext.Pool.RunAsync(() => ConnectOnceAsync(cancellationToken));

    public async Task StartAsync(CancellationToken cancellationToken)
    {
        if (limit == TimeSpan.Zero) return;
        var start = time.GetTimestamp();
        while (true)
        {
            try
            {
                await GetClientAsync(cancellationToken);
                return;
            }
            catch (TAway) when (time.GetElapsedTime(start) < limit)
            {
                // Services and their cluster are often started together.
                await Task.Delay(RetryDelay, time, cancellationToken);
            }
        }
    }

    public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public async ValueTask DisposeAsync()
    {
        if (Current is { } client) await client.DisposeAsync();
        _gate.Dispose();
    }

    protected abstract Task<TClient> ConnectAsync(CancellationToken cancellationToken);

    /// <summary>An exception of its own for each caller.</summary>
    protected abstract TAway Repeat(TAway failure);

    private async Task<TClient> ConnectOnceAsync(CancellationToken cancellationToken)
    {
        var before = _failure;
        await _gate.WaitAsync(cancellationToken);
        try
        {
            if (Current is { } made) return made;
            // Calls that waited for an attempt share its failure: with one attempt each, the last would wait for all.
            if (_failure is { } failure && failure != before) throw Repeat(failure);
            try
            {
                return _client = await ConnectAsync(cancellationToken);
            }
            catch (TAway e)
            {
                _failure = e;
                throw;
            }
        }
        finally
        {
            _gate.Release();
        }
    }
}
