using Corfu.Client;
using Corfu.Extensions;

namespace Corfu.Grpc;

/// <summary>The log behind the front end.</summary>
internal interface ILogSource
{
    /// <summary>The first call connects.</summary>
    /// <exception cref="ClusterNotFoundException">No cluster there (now).</exception>
    ValueTask<ICorfuLog> GetAsync(CancellationToken cancellationToken);

    /// <summary>The id of the log's cluster, connecting as <see cref="GetAsync"/> does.</summary>
    ValueTask<string> GetClusterIdAsync(CancellationToken cancellationToken);
}

/// <summary>The host's client.</summary>
internal sealed class ClientLogSource(ICorfuConnection connection) : ILogSource
{
    private Known? _known;

    public async ValueTask<ICorfuLog> GetAsync(CancellationToken cancellationToken) =>
        (Volatile.Read(ref _known) ?? await ConnectAsync(cancellationToken)).Client;

    public async ValueTask<string> GetClusterIdAsync(CancellationToken cancellationToken) =>
        (Volatile.Read(ref _known) ?? await ConnectAsync(cancellationToken)).ClusterId;

    private async ValueTask<Known> ConnectAsync(CancellationToken cancellationToken)
    {
        var client = await connection.GetClientAsync(cancellationToken);
        var known = new Known(client, client.Projection.Cluster.ToString());
        Volatile.Write(ref _known, known);
        return known;
    }

    private sealed record Known(CorfuClient Client, string ClusterId);
}
