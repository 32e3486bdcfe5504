using Corfu.Client;
using Microsoft.Extensions.Logging.Abstractions;

namespace Craq.Hosting;

/// <summary>CRAQ nodes inside this process, over a log. Writes are durable, as on any other nodes.</summary>
public sealed record EmbeddedCraqOptions
{
    /// <summary>The folder of the nodes' data; nodes that are there are continued. Null takes a temporary folder,
    /// deleted at the end.</summary>
    public string? Folder { get; init; }

    /// <summary>Nodes of each datacenter, in order. Default: three in <c>default</c>.</summary>
    public ImmutableArray<(string Datacenter, int Nodes)> Datacenters { get; init; } =
        [(CraqNodeSettings.DefaultDatacenter, 3)];

    /// <summary>Listeners of the first node for memcached's protocols
    /// (<see cref="CraqNodeSettings.Memcached"/>).</summary>
    public ImmutableArray<string> Memcached { get; init; } = [];

    /// <inheritdoc cref="CraqShape.Authority"/>
    public string? Authority { get; init; }

    /// <summary>Default: nothing is logged.</summary>
    public ILoggerFactory Loggers { get; init; } = NullLoggerFactory.Instance;

    public TimeProvider Time { get; init; } = TimeProvider.System;
}

/// <summary>CRAQ nodes inside this process, each behind its own loopback port, so that other processes can connect
/// too. For development and tests.</summary>
public sealed class EmbeddedCraq : IAsyncDisposable
{
    private static readonly TimeSpan s_registering = TimeSpan.FromMinutes(1);

    private readonly EmbeddedCraqOptions _options;
    private readonly CraqFolder _folder;
    private readonly Dictionary<string, CorfuNode> _nodes = [];
    private int _disposed;

    private EmbeddedCraq(EmbeddedCraqOptions options, CraqFolder folder) => (_options, _folder) = (options, folder);

    /// <summary>The folder of the nodes' data.</summary>
    public string Folder => _folder.Path;

    /// <summary>The connection string for clients.</summary>
    public string ConnectionString => _folder.ConnectionString().ToString();

    /// <summary>The names of the nodes that run.</summary>
    public IReadOnlyCollection<string> Nodes => _nodes.Keys;

    /// <param name="log">The connection string of the log, as <see cref="EmbeddedCluster"/> has it. With TLS:
    /// <see cref="EmbeddedCraqOptions.Authority"/> too.</param>
    /// <exception cref="NodeStartException">The folder is in use, damaged or not writable, or a port is
    /// occupied; or a node does not register in the log's directory within a minute.</exception>
    public static async Task<EmbeddedCraq> StartAsync(
        string log, EmbeddedCraqOptions? options = null, CancellationToken cancellationToken = default)
    {
        options ??= new EmbeddedCraqOptions();
        var path = options.Folder ?? Directory.CreateTempSubdirectory("craq-").FullName;
        var shape = new CraqShape(log)
        {
            Datacenters = options.Datacenters,
            Memcached = options.Memcached,
            Authority = options.Authority,
        };
        EmbeddedCraq? craq = null;
        try
        {
            craq = new EmbeddedCraq(options, await CraqFolder.OpenOrCreateAsync(path, shape, cancellationToken));
            foreach (var node in craq._folder.Manifest.Nodes) await craq.StartNodeAsync(node.Name, cancellationToken);
            await craq.WaitUntilRegisteredAsync(log, cancellationToken);
            return craq;
        }
        catch
        {
            if (craq is not null) await craq.DisposeAsync();
            else if (options.Folder is null) Directory.Delete(path, recursive: true);
            throw;
        }
    }

    /// <summary>A new client, which the caller disposes.</summary>
    public Task<CraqClient> ConnectAsync(
        CraqClientOptions? options = null, CancellationToken cancellationToken = default) =>
        CraqClient.ConnectAsync(
            ConnectionString, options, _options.Loggers.CreateLogger<CraqClient>(), cancellationToken);

    /// <summary>Stops one node, as if its process had ended in good order.</summary>
    public async Task StopNodeAsync(string name)
    {
        if (_nodes.Remove(name, out var node)) await node.DisposeAsync();
    }

    /// <summary>Starts a stopped node again.</summary>
    public async Task StartNodeAsync(string name, CancellationToken cancellationToken = default)
    {
        var node = _folder.Manifest.Nodes.FirstOrDefault(node => node.Name == name)
            ?? throw new ArgumentException($"There is no node {name}.", nameof(name));
        if (_nodes.ContainsKey(name)) return;
        var config = NodeConfig.Load(_folder.ConfigPath(node), CraqFolder.Roles);
        _nodes.Add(name, await CorfuNode.StartAsync(config, _options.Loggers, _options.Time, cancellationToken));
    }

    public async ValueTask DisposeAsync()
    {
        if (Interlocked.Exchange(ref _disposed, 1) != 0) return;
        await Task.WhenAll(_nodes.Values.Select(node => node.DisposeAsync().AsTask()));
        if (_options.Folder is null) Directory.Delete(_folder.Path, recursive: true);
    }

    // Chains are created on registered nodes only.
    private async Task WaitUntilRegisteredAsync(string log, CancellationToken cancellationToken)
    {
        await using var client = await CorfuClient.ConnectAsync(log, cancellationToken: cancellationToken);
        await using var admin = await CraqAdmin.OpenAsync(client, cancellationToken);
        var missing = _nodes.Values.Select(node => node.Endpoint).ToHashSet();
        var began = _options.Time.GetTimestamp();
        while (true)
        {
            var overview = await admin.ReadAsync(cancellationToken);
            missing.ExceptWith(overview.Nodes.Where(node => node.State != CraqNodeState.Gone)
                .Select(node => node.Endpoint));
            if (missing.Count == 0) return;
            if (_options.Time.GetElapsedTime(began) >= s_registering)
                throw new NodeStartException($"The nodes at {string.Join(", ", missing)} did not register in the log's "
                    + "directory within a minute: their messages, by EmbeddedCraqOptions.Loggers, say why.");
            await Task.Delay(TimeSpan.FromMilliseconds(50), _options.Time, cancellationToken);
        }
    }
}
