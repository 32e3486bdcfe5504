using Corfu.Client;
using Corfu.Protocol;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace Corfu.Extensions;

/// <summary>A host's connection to a cluster.</summary>
public interface ICorfuConnection
{
    /// <summary>The client, connected; the first call connects and the others share it. The host owns it.</summary>
    /// <exception cref="ClusterNotFoundException">No cluster there (now): a later call tries again.</exception>
    Task<CorfuClient> GetClientAsync(CancellationToken cancellationToken = default);
}

/// <summary>Connects once and closes with the host.</summary>
internal sealed class CorfuConnection(CorfuClientSettings settings, ILoggerFactory loggers, TimeProvider time)
    : ICorfuConnection, IHostedService, IAsyncDisposable
{
    private static readonly TimeSpan RetryDelay = TimeSpan.FromMilliseconds(200);

    private readonly SemaphoreSlim _gate = new(1, 1);
    private readonly ILogger _logger = loggers.CreateLogger<CorfuClient>();

    // Written once, under _gate.
    private volatile CorfuClient? _client;

    // The failure of the newest attempt that failed. Written under _gate.
    private volatile Exception? _failure;

    /// <summary>Null until the first connection.</summary>
    public CorfuClient? Current => _client;

    public Task<CorfuClient> GetClientAsync(CancellationToken cancellationToken = default) =>
        Current is { } connected
            ? Task.FromResult(connected)
            // The others wait for it, whatever becomes of the caller's context.
            : LoopContext.Pool.RunAsync(() => ConnectOnceAsync(cancellationToken));

    private async Task<CorfuClient> ConnectOnceAsync(CancellationToken cancellationToken)
    {
        var before = _failure;
        await _gate.WaitAsync(cancellationToken);
        try
        {
            if (Current is { } made) return made;
            // Calls that waited for an attempt share its failure: with one attempt each, the last would wait for all.
            if (_failure is { } failure && failure != before)
                throw new ClusterNotFoundException(failure.Message, failure);
            made = await ConnectAsync(cancellationToken);
            _client = made;
            return made;
        }
        finally
        {
            _gate.Release();
        }
    }

    public async Task StartAsync(CancellationToken cancellationToken)
    {
        var limit = settings.ConnectTimeout;
        if (limit == TimeSpan.Zero) return;
        var start = time.GetTimestamp();
        while (true)
        {
            try
            {
                await GetClientAsync(cancellationToken);
                return;
            }
            catch (ClusterNotFoundException) when (time.GetElapsedTime(start) < limit)
            {
                // Services and their cluster are often started together.
                await Task.Delay(RetryDelay, time, cancellationToken);
            }
        }
    }

    public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    private async Task<CorfuClient> ConnectAsync(CancellationToken cancellationToken)
    {
        try
        {
            return await CorfuClient.ConnectAsync(
                settings.ConnectionString, settings.Client, _logger, cancellationToken);
        }
        catch (ClusterNotFoundException e)
        {
            _failure = e;
            throw;
        }
    }

    public async ValueTask DisposeAsync()
    {
        if (Current is { } client) await client.DisposeAsync();
        _gate.Dispose();
    }
}
