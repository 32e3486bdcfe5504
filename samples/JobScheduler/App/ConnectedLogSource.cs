using Corfu;
using Corfu.Client;

namespace JobScheduler.App;

/// <summary>A cluster that runs already.</summary>
internal sealed class ConnectedLogSource(string connection) : ILogSource
{
    private readonly ClientSet _clients = new(connection);

    public string Description => $"cluster {connection}";

    public string? ResumeArguments => $"--connect {connection}";

    public string? ConnectionString => connection;

    public ValueTask<ICorfuLog> ConnectAsync(CancellationToken cancellationToken) =>
        _clients.ConnectAsync(cancellationToken);

    public ValueTask DisposeAsync() => _clients.DisposeAsync();
}
