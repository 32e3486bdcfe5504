using Corfu;
using Corfu.Client;
using Corfu.Hosting;

namespace JobScheduler.App;

/// <summary>A cluster inside this process: 3 storage units on FASTER files, 2 replicas of every entry, durable
/// writes.</summary>
internal sealed class EmbeddedLogSource : ILogSource
{
    private static readonly EmbeddedClusterOptions Shape = new() { Units = 3, Replicas = 2 };

    private readonly EmbeddedCluster _cluster;
    private readonly string? _folder;
    private readonly ClientSet _clients;

    private EmbeddedLogSource(EmbeddedCluster cluster, string? folder)
    {
        _cluster = cluster;
        _folder = folder;
        _clients = new ClientSet(cluster.ConnectionString);
    }

    public string Description =>
        $"embedded cluster of {Shape.Units} units with {Shape.Replicas} replicas in {_folder ?? "a temporary folder"}";

    public string? ResumeArguments => _folder is null ? null : $"--data {_folder}";

    public string? ConnectionString => _cluster.ConnectionString;

    /// <param name="folder">Null: a temporary folder that is gone at the end.</param>
    public static async Task<ILogSource> StartAsync(string? folder, CancellationToken cancellationToken)
    {
        EmbeddedCluster cluster = await EmbeddedCluster.StartAsync(Shape with { Folder = folder }, cancellationToken);
        return new EmbeddedLogSource(cluster, folder);
    }

    public ValueTask<ICorfuLog> ConnectAsync(CancellationToken cancellationToken) =>
        _clients.ConnectAsync(cancellationToken);

    public async ValueTask DisposeAsync()
    {
        await _clients.DisposeAsync();
        await _cluster.DisposeAsync();
    }
}
