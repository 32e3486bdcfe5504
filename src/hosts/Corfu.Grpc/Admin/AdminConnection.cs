using Corfu.Agent;
using Corfu.Client;
using Corfu.Extensions;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;

namespace Corfu.Grpc;

/// <summary>The host's client, with a transport for questions to nodes that may be gone.</summary>
/// <param name="admin">Opens a client that may change the cluster. None: the host's client may.</param>
internal sealed class AdminConnection(
    ICorfuConnection connection, IOptions<CorfuClientSettings> settings, IEnumerable<AdminClient> admin,
    TimeProvider time, ILoggerFactory loggers) : IDisposable
{
    private const string Tool = "front end";

    private static readonly TimeSpan Timeout = TimeSpan.FromSeconds(2);

    private readonly Lock _gate = new();

    // Guarded by _gate.
    private TcpTransport? _transport;
    private bool _isDisposed;

    public async Task<OperatorSession> OpenAsync(CancellationToken cancellationToken)
    {
        var client = await connection.GetClientAsync(cancellationToken);
        return new OperatorSession(client.Cluster, TransportOf(client), time, [], Tool);
    }

    /// <summary>Runs a change of the cluster for a caller who was checked: over a connection with the right to make it,
    /// which ends with the change. The epoch's reason names the caller.</summary>
    public async Task RunChangeAsync(
        string caller, Func<OperatorSession, Task> change, CancellationToken cancellationToken)
    {
        var by = $"{Tool} for {caller}";
        if (admin.FirstOrDefault() is not { } own)
        {
            var shared = await connection.GetClientAsync(cancellationToken);
            await change(new OperatorSession(shared.Cluster, TransportOf(shared), time, [], by));
            return;
        }

        await using var client = await CorfuClient.ConnectAsync(
            own.Connection, own.Options, loggers.CreateLogger<CorfuClient>(), cancellationToken);
        using var transport = NewTransport(client, own.Options);
        await change(new OperatorSession(client.Cluster, transport, time, [], by));
    }

    /// <summary>The log of the host's client.</summary>
    public Task<CorfuClient> OpenLogAsync(CancellationToken cancellationToken) =>
        connection.GetClientAsync(cancellationToken);

    public void Dispose()
    {
        lock (_gate)
        {
            _isDisposed = true;
            _transport?.Dispose();
        }
    }

    private TcpTransport TransportOf(CorfuClient client)
    {
        lock (_gate)
        {
            ObjectDisposedException.ThrowIf(_isDisposed, this);
            return _transport ??= NewTransport(client, settings.Value.Client);
        }
    }

    private static TcpTransport NewTransport(CorfuClient client, CorfuClientOptions options) => new(options.Tcp with
    {
        Cluster = client.Projection.Cluster,
        ConnectTimeout = Timeout,
        RequestTimeout = Timeout,
    });
}
