using Corfu.Hosting;

namespace Corfu.Load.Suite;

/// <summary>The clusters of a run. Most scenarios share one; its objects and streams have names of their own.</summary>
internal sealed class SuiteClusters(string folder) : IAsyncDisposable
{
    /// <summary>Names of the clusters' folders begin with it.</summary>
    public const string Prefix = "cluster-";

    private static readonly ClusterShape s_shared = new() { Units = 3, Replicas = 2 };

    private LoadCluster? _shared;
    private int _started;

    /// <returns>The connection string of three units with two replicas.</returns>
    public async Task<string> SharedAsync(CancellationToken cancellationToken) =>
        (_shared ??= await StartAsync(s_shared, cancellationToken)).ConnectionString;

    public Task<LoadCluster> StartAsync(ClusterShape shape, CancellationToken cancellationToken) =>
        LoadCluster.StartAsync(shape, Path.Combine(folder, $"{Prefix}{_started++}"), cancellationToken);

    /// <summary>After a failure: the next scenario gets a new one.</summary>
    public async Task StopSharedAsync()
    {
        if (_shared is null) return;
        var stopped = _shared;
        _shared = null;
        await stopped.DisposeAsync();
    }

    public async ValueTask DisposeAsync() => await StopSharedAsync();
}
