using Corfu.Client;
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

    /// <summary>Null until the first connection.</summary>
    public CorfuClient? Current => _client;

    public async Task<CorfuClient> GetClientAsync(CancellationToken cancellationToken = default)
    {
        if (Current is { } connected) return connected;
        await _gate.WaitAsync(cancellationToken);
        try
        {
            return _client ??= await CorfuClient.ConnectAsync(settings.ConnectionString, settings.Client,
                _logger, cancellationToken);
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

    public async ValueTask DisposeAsync()
    {
        if (Current is { } client) await client.DisposeAsync();
        _gate.Dispose();
    }
}
