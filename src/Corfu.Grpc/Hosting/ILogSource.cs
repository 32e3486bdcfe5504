using Corfu.Client;
using Corfu.Extensions;

namespace Corfu.Grpc;

/// <summary>The log behind the front end.</summary>
internal interface ILogSource
{
    /// <summary>The first call connects.</summary>
    /// <exception cref="ClusterNotFoundException">No cluster there (now).</exception>
    ValueTask<ICorfuLog> GetAsync(CancellationToken cancellationToken);
}

/// <summary>The host's client.</summary>
internal sealed class ClientLogSource(ICorfuConnection connection) : ILogSource
{
    private ICorfuLog? _log;

    public ValueTask<ICorfuLog> GetAsync(CancellationToken cancellationToken) =>
        Volatile.Read(ref _log) is { } log ? new ValueTask<ICorfuLog>(log) : ConnectAsync(cancellationToken);

    private async ValueTask<ICorfuLog> ConnectAsync(CancellationToken cancellationToken)
    {
        var client = await connection.GetClientAsync(cancellationToken);
        Volatile.Write(ref _log, client);
        return client;
    }
}
