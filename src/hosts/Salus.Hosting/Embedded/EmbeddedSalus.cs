using Microsoft.Extensions.Logging.Abstractions;
using Salus.Coordination;

namespace Salus.Hosting;

/// <summary>Salus nodes inside this process, over a log. Writes are durable, as on any other nodes.</summary>
public sealed record EmbeddedSalusOptions
{
    /// <summary>The folder of the nodes' data; nodes that are there are continued. Null takes a temporary folder,
    /// deleted at the end.</summary>
    public string? Folder { get; init; }

    /// <inheritdoc cref="SalusShape.Nodes"/>
    public int Nodes { get; init; } = 3;

    /// <inheritdoc cref="SalusShape.Authority"/>
    public string? Authority { get; init; }

    /// <summary>Default: nothing is logged.</summary>
    public ILoggerFactory Loggers { get; init; } = NullLoggerFactory.Instance;

    public TimeProvider Time { get; init; } = TimeProvider.System;
}

/// <summary>Salus nodes inside this process, each behind its own loopback port, so that other processes can connect
/// too. For development and tests.</summary>
public sealed class EmbeddedSalus : IAsyncDisposable
{
    private static readonly TimeSpan s_registering = TimeSpan.FromMinutes(1);

    private readonly EmbeddedSalusOptions _options;
    private readonly SalusFolder _folder;
    private readonly Dictionary<string, CorfuNode> _nodes = [];
    private int _disposed;

    private EmbeddedSalus(EmbeddedSalusOptions options, SalusFolder folder) => (_options, _folder) = (options, folder);

    /// <summary>The folder of the nodes' data.</summary>
    public string Folder => _folder.Path;

    /// <summary>The connection string of the log.</summary>
    public string Log => _folder.Manifest.Log;

    /// <summary>The nodes that run, by name.</summary>
    public IReadOnlyDictionary<string, CorfuNode> Nodes => _nodes;

    /// <param name="log">The connection string of the log, as <see cref="EmbeddedCluster"/> has it. With TLS:
    /// <see cref="EmbeddedSalusOptions.Authority"/> too.</param>
    /// <exception cref="NodeStartException">The folder is in use, damaged or not writable, or a port is
    /// occupied; or a node does not register in the log within a minute.</exception>
    public static async Task<EmbeddedSalus> StartAsync(
        string log, EmbeddedSalusOptions? options = null, CancellationToken cancellationToken = default)
    {
        options ??= new EmbeddedSalusOptions();
        var path = options.Folder ?? Directory.CreateTempSubdirectory("salus-").FullName;
        var shape = new SalusShape(log) { Nodes = options.Nodes, Authority = options.Authority };
        EmbeddedSalus? salus = null;
        try
        {
            salus = new EmbeddedSalus(options, await SalusFolder.OpenOrCreateAsync(path, shape, cancellationToken));
            foreach (var node in salus._folder.Manifest.Nodes) await salus.OpenNodeAsync(node, cancellationToken);
            await salus.WaitUntilRegisteredAsync(cancellationToken);
            return salus;
        }
        catch
        {
            if (salus is not null) await salus.DisposeAsync();
            else if (options.Folder is null) Directory.Delete(path, recursive: true);
            throw;
        }
    }

    /// <summary>Stops one node, as if its process had ended in good order.</summary>
    public async Task StopNodeAsync(string name)
    {
        if (_nodes.Remove(name, out var node)) await node.DisposeAsync();
    }

    /// <summary>Starts a stopped node again, and waits until it is registered.</summary>
    public async Task StartNodeAsync(string name, CancellationToken cancellationToken = default)
    {
        var node = _folder.Manifest.Nodes.FirstOrDefault(node => node.Name == name)
            ?? throw new ArgumentException($"There is no node {name}.", nameof(name));
        if (_nodes.ContainsKey(name)) return;
        await OpenNodeAsync(node, cancellationToken);
        await WaitUntilRegisteredAsync(cancellationToken);
    }

    public async ValueTask DisposeAsync()
    {
        if (Interlocked.Exchange(ref _disposed, 1) != 0) return;
        await Task.WhenAll(_nodes.Values.Select(node => node.DisposeAsync().AsTask()));
        if (_options.Folder is null) Directory.Delete(_folder.Path, recursive: true);
    }

    private async Task OpenNodeAsync(SalusManifestNode node, CancellationToken cancellationToken)
    {
        var config = NodeConfig.Load(_folder.ConfigPath(node), SalusFolder.Roles);
        _nodes.Add(node.Name, await CorfuNode.StartAsync(config, _options.Loggers, _options.Time, cancellationToken));
    }

    // Volumes are placed on registered nodes only.
    private async Task WaitUntilRegisteredAsync(CancellationToken cancellationToken)
    {
        await using var log = await SalusLog.ConnectAsync(
            Log, loggers: _options.Loggers, cancellationToken: cancellationToken);
        var running = _nodes.Values.Select(node => node.Endpoint).ToHashSet();
        var began = _options.Time.GetTimestamp();
        while (true)
        {
            var nodes = await log.Admin.NodesAsync(cancellationToken);
            var missing = running.Except(nodes.Stores.Values.Where(node => node.State == BookedState.Live)
                .Select(node => node.Endpoint)).ToList();
            if (missing.Count == 0) return;
            if (_options.Time.GetElapsedTime(began) >= s_registering)
                throw new NodeStartException($"The nodes at {string.Join(", ", missing)} did not register in the log "
                    + "within a minute: their messages, by EmbeddedSalusOptions.Loggers, say why.");
            await Task.Delay(TimeSpan.FromMilliseconds(50), _options.Time, cancellationToken);
        }
    }
}
