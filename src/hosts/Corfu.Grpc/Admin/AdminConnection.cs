using Corfu.Agent;
using Corfu.Client;
using Corfu.Extensions;

namespace Corfu.Grpc;

/// <summary>The host's client, with a transport for questions to nodes that may be gone.</summary>
internal sealed class AdminConnection(ICorfuConnection connection, TimeProvider time) : IDisposable
{
    private static readonly TimeSpan Timeout = TimeSpan.FromSeconds(2);

    private readonly Lock _gate = new();

    // Guarded by _gate.
    private TcpTransport? _transport;
    private bool _isDisposed;

    public async Task<OperatorSession> OpenAsync(CancellationToken cancellationToken)
    {
        var client = await connection.GetClientAsync(cancellationToken);
        return new OperatorSession(client.Cluster, TransportOf(client), time, [], "front end");
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
            return _transport ??= new TcpTransport(new TcpTransportOptions
            {
                Cluster = client.Projection.Cluster,
                ConnectTimeout = Timeout,
                RequestTimeout = Timeout,
            });
        }
    }
}
