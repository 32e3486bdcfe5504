using Corfu.Client;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;

namespace Corfu.Extensions;

/// <summary>Connects once, for everybody, and closes with the host.</summary>
internal sealed class CorfuConnection(IOptions<CorfuClientSettings> settings, ILoggerFactory loggers, TimeProvider time)
    : ICorfuConnection, IHostedService, IAsyncDisposable
{
    private static readonly TimeSpan RetryDelay = TimeSpan.FromMilliseconds(200);

    private readonly SemaphoreSlim _gate = new(1, 1);
    private readonly ILogger _logger = loggers.CreateLogger<CorfuClient>();

    // Written once, under _gate.
    private CorfuClient? _client;

    /// <summary>Null until something has connected.</summary>
    public CorfuClient? Current => Volatile.Read(ref _client);

    public async Task<CorfuClient> GetClientAsync(CancellationToken cancellationToken = default)
    {
        if (Current is { } connected) return connected;
        await _gate.WaitAsync(cancellationToken);
        try
        {
            if (_client is null)
                Volatile.Write(ref _client,
                    await CorfuClient.ConnectAsync(settings.Value.ConnectionString, settings.Value.Client, _logger,
                        cancellationToken));
            return _client!;
        }
        finally
        {
            _gate.Release();
        }
    }

    public async Task StartAsync(CancellationToken cancellationToken)
    {
        var patience = settings.Value.ConnectTimeout;
        if (patience == TimeSpan.Zero) return;
        var start = time.GetTimestamp();
        while (true)
        {
            try
            {
                await GetClientAsync(cancellationToken);
                return;
            }
            catch (ClusterNotFoundException) when (time.GetElapsedTime(start) < patience)
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
