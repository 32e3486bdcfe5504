using Corfu;
using Corfu.Client;

namespace JobScheduler.App;

/// <summary>The clients of one cluster, disposed together.</summary>
internal sealed class ClientSet(string connection) : IAsyncDisposable
{
    private readonly List<CorfuClient> _clients = [];

    public async ValueTask<ICorfuLog> ConnectAsync(CancellationToken cancellationToken)
    {
        CorfuClient client = await CorfuClient.ConnectAsync(connection, cancellationToken: cancellationToken);
        _clients.Add(client);
        return client;
    }

    public async ValueTask DisposeAsync()
    {
        foreach (CorfuClient client in _clients)
            await client.DisposeAsync();
    }
}
