using System.Collections.Concurrent;
using Corfu.Client;

namespace Corfu.Hosting;

/// <summary>A whole cluster inside this process: units on FASTER files with durable writes, layout acceptors and a
/// sequencer, each node behind its own loopback port, so that other processes can connect too. Opening a folder again
/// replaces the sequencer by an ordinary reconfiguration; ports are kept, so connected clients go on.</summary>
public sealed class EmbeddedCluster : IAsyncDisposable
{
    private readonly EmbeddedClusterOptions _options;
    private readonly ClusterFolder _folder;
    private readonly List<FolderLock> _locks = [];
    private readonly ConcurrentDictionary<string, CorfuNode> _nodes = [];
    private int _disposed;

    private EmbeddedCluster(EmbeddedClusterOptions options, ClusterFolder folder)
    {
        _options = options;
        _folder = folder;
    }

    /// <summary>The folder of the cluster's data.</summary>
    public string Folder => _folder.Path;

    /// <summary>The connection string for clients.</summary>
    public string ConnectionString => _folder.ConnectionString();

    public ClusterManifest Manifest => _folder.Manifest;

    /// <exception cref="NodeStartException">The folder is in use, damaged or not writable, holds a cluster of another
    /// shape, or a port is occupied.</exception>
    public static async Task<EmbeddedCluster> StartAsync(EmbeddedClusterOptions? options = null,
        CancellationToken cancellationToken = default)
    {
        options ??= new EmbeddedClusterOptions();
        var path = options.Folder ?? Directory.CreateTempSubdirectory("corfu-").FullName;
        var shape = new ClusterShape
        {
            Units = options.Units,
            Replicas = options.Replicas,
            Spares = options.Spares,
            Sequencers = options.Sequencers,
            Automatic = options.Automatic,
            Tls = options.Tls,
        };
        var cluster = new EmbeddedCluster(options, ClusterFolder.OpenOrCreate(path, shape, SystemEntropy.Instance));
        try
        {
            await cluster.StartNodesAsync(cancellationToken);
            await ClusterBootstrap.RunAsync(cluster._folder, options.Loggers, options.Time, cancellationToken,
                takesUnitsIn: true);
            return cluster;
        }
        catch (CorfuException e) when (cluster.Stopped is { Length: > 0 } stopped)
        {
            await cluster.DisposeAsync();
            throw new NodeStartException($"The cluster does not serve: {string.Join("; ", stopped)}. {e.Message}", e);
        }
        catch
        {
            await cluster.DisposeAsync();
            throw;
        }
    }

    /// <summary>Roles that serve nothing, damaged ones for instance, and why.</summary>
    public ImmutableArray<string> Stopped => [.. _nodes.Values.SelectMany(node => node.Stopped)];

    /// <summary>A new client, which the caller disposes.</summary>
    public Task<CorfuClient> ConnectAsync(CorfuClientOptions? options = null,
        CancellationToken cancellationToken = default) =>
        CorfuClient.ConnectAsync(ConnectionString, options, _options.Loggers.CreateLogger<CorfuClient>(),
            cancellationToken);

    /// <summary>Stops one node, as if its process had ended in good order.</summary>
    public async Task StopNodeAsync(string name)
    {
        if (_nodes.TryRemove(name, out var node)) await node.DisposeAsync();
    }

    /// <summary>Starts a stopped node again. A sequencer takes over by a reconfiguration.</summary>
    public async Task StartNodeAsync(string name, CancellationToken cancellationToken = default)
    {
        var node = Manifest.Nodes.FirstOrDefault(node => node.Name == name)
            ?? throw new ArgumentException($"There is no node {name}.", nameof(name));
        if (_nodes.ContainsKey(name)) return;
        await StartNodeAsync(node, cancellationToken);
        await ClusterBootstrap.RunAsync(_folder, _options.Loggers, _options.Time, cancellationToken);
    }

    public async ValueTask DisposeAsync()
    {
        if (Interlocked.Exchange(ref _disposed, 1) != 0) return;
        await Task.WhenAll(_nodes.Values.Select(node => node.DisposeAsync().AsTask()));
        foreach (var folderLock in _locks) folderLock.Dispose();
        if (_options.Folder is null) Directory.Delete(_folder.Path, recursive: true);
    }

    private async Task StartNodesAsync(CancellationToken cancellationToken)
    {
        _locks.Add(FolderLock.Take(_folder.Path, FolderUse.Embedded));
        foreach (var node in Manifest.Nodes) _locks.Add(FolderLock.Take(_folder.NodePath(node), FolderUse.Embedded));
        // Nodes wait for their disks, and in a new process compile what they run: side by side on all cores.
        await Task.WhenAll(Manifest.Nodes.Select(node => LoopContext.Pool.RunAsync(async () =>
        {
            // Up to its first wait a start would run here, before the next node's.
            await Task.Yield();
            await StartNodeAsync(node, cancellationToken);
        })));
    }

    private async Task StartNodeAsync(ManifestNode node, CancellationToken cancellationToken)
    {
        var options = NodeConfig.Load(_folder.ConfigPath(node));
        _nodes[node.Name] =
            await CorfuNode.StartAsync(options, _options.Loggers, _options.Time, cancellationToken);
    }
}
