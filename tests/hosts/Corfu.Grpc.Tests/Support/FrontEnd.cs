using System.Net;
using Corfu.Client;
using Corfu.Extensions;
using Grpc.Net.Client;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Microsoft.Extensions.Logging.Abstractions;

namespace Corfu.Grpc.Tests;

/// <summary>A front end over any log, on a port of its own, and a channel to it.</summary>
internal sealed class FrontEnd : IAsyncDisposable
{
    /// <summary>The cluster of all front ends over one log.</summary>
    public const string ClusterId = "11111111-2222-3333-4444-555555555555";

    private readonly GrpcFrontEnd _frontEnd;

    private FrontEnd(GrpcFrontEnd frontEnd)
    {
        _frontEnd = frontEnd;
        Channel = GrpcChannel.ForAddress(frontEnd.Address);
    }

    public string Address => _frontEnd.Address;

    public GrpcChannel Channel { get; }

    /// <param name="time">The server's clock; null: the system's.</param>
    public static async Task<FrontEnd> StartAsync(ICorfuLog log, Action<CorfuGrpcOptions>? configure = null,
        int port = 0, TimeProvider? time = null) => new(await GrpcFrontEnd.StartAsync(
            new GrpcFrontEnd.Listener(new IPEndPoint(IPAddress.Loopback, port)),
            services =>
            {
                services.AddSingleton(time ?? TimeProvider.System);
                services.AddSingleton<ILogSource>(new FixedLog(log));
                services.AddSingleton<ICorfuConnection>(new NoConnection());
                services.AddHealthChecks().AddCheck("log", static () => HealthCheckResult.Healthy(), ["ready"]);
                if (configure is not null) services.Configure(configure);
            },
            NullLoggerFactory.Instance, CancellationToken.None));

    /// <summary>Over the cluster of a connection string, as in a node.</summary>
    /// <param name="opensForChanges">Changes of the cluster go over a client of their own.</param>
    public static async Task<FrontEnd> ConnectAsync(
        string connection, Action<CorfuGrpcOptions>? configure = null, bool opensForChanges = false) =>
        new(await GrpcFrontEnd.StartAsync(
            new GrpcFrontEnd.Listener(new IPEndPoint(IPAddress.Loopback, 0)),
            services =>
            {
                services.AddCorfuClient(settings =>
                {
                    settings.ConnectionString = connection;
                    settings.ConnectTimeout = TimeSpan.Zero;
                });
                if (configure is not null) services.Configure(configure);
                if (opensForChanges) services.AddSingleton(new AdminClient(connection, new CorfuClientOptions()));
            },
            NullLoggerFactory.Instance, CancellationToken.None));

    /// <summary>Ends its connections at once, as a process that is killed does.</summary>
    public Task AbortAsync() => _frontEnd.AbortAsync();

    public async ValueTask DisposeAsync()
    {
        Channel.Dispose();
        await _frontEnd.DisposeAsync();
    }

    /// <summary>Objects are not served over such a log.</summary>
    private sealed class NoConnection : ICorfuConnection
    {
        public Task<CorfuClient> GetClientAsync(CancellationToken cancellationToken = default) =>
            Task.FromException<CorfuClient>(new InvalidOperationException("There is no cluster."));
    }

    private sealed class FixedLog(ICorfuLog log) : ILogSource
    {
        public ValueTask<ICorfuLog> GetAsync(CancellationToken cancellationToken) => new(log);

        public ValueTask<string> GetClusterIdAsync(CancellationToken cancellationToken) => new(ClusterId);
    }
}
