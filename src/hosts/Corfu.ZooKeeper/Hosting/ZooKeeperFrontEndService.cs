using System.Net;
using Corfu.Extensions;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging.Abstractions;

namespace Corfu.ZooKeeper.Hosting;

/// <summary>A front end that starts and stops with its host. <c>AddCorfuZooKeeper</c> adds it.</summary>
public sealed class ZooKeeperFrontEndService : IHostedService, IAsyncDisposable
{
    private readonly ICorfuConnection _connection;
    private readonly ZooKeeperFrontEndOptions _options;
    private TangoRuntime? _runtime;
    private ZooKeeperFrontEnd? _frontEnd;

    internal ZooKeeperFrontEndService(
        ICorfuConnection connection, ZooKeeperFrontEndOptions options, ILoggerFactory loggers)
    {
        _connection = connection;
        _options = options.Loggers == NullLoggerFactory.Instance ? options with { Loggers = loggers } : options;
    }

    /// <summary>The address at which the front end listens.</summary>
    /// <exception cref="InvalidOperationException">The host has not started.</exception>
    public IPEndPoint EndPoint => _frontEnd?.EndPoint
        ?? throw new InvalidOperationException("The front end has not started: its host starts it");

    async Task IHostedService.StartAsync(CancellationToken cancellationToken)
    {
        var client = await _connection.GetClientAsync(cancellationToken).ConfigureAwait(false);
        _runtime = new TangoRuntime(
            client, ZooKeeperFrontEnd.RuntimeOptions, _options.Loggers.CreateLogger<TangoRuntime>());
        _frontEnd = await ZooKeeperFrontEnd.StartAsync(_runtime, _options, cancellationToken: cancellationToken)
            .ConfigureAwait(false);
    }

    async Task IHostedService.StopAsync(CancellationToken cancellationToken) =>
        await DisposeAsync().ConfigureAwait(false);

    /// <summary>Closes all clients, whose sessions go on at other front ends.</summary>
    public async ValueTask DisposeAsync()
    {
        if (Interlocked.Exchange(ref _frontEnd, null) is { } frontEnd)
            await frontEnd.DisposeAsync().ConfigureAwait(false);
        if (Interlocked.Exchange(ref _runtime, null) is { } runtime) await runtime.DisposeAsync().ConfigureAwait(false);
    }
}
