using System.Collections.Immutable;
using System.Diagnostics;
using Corfu.Client;
using Corfu.Hosting;
using Corfu.Protocol;
using Craq;
using Craq.Hosting;

namespace Corfu.Load;

/// <summary>CRAQ nodes as <c>corfu craq up</c> starts them: a process each, over a log of its own processes.</summary>
internal sealed class CraqNodes : IAsyncDisposable
{
    // The directory's log is off the path of reads and writes.
    private static readonly ClusterShape s_log = new() { Units = 1, Replicas = 1 };
    private static readonly TimeSpan s_opening = TimeSpan.FromSeconds(30);

    private readonly ProcessCluster _logs = new(NodeCommandLine.Self(NodeProcessCommand.Name));
    private readonly ProcessCraq _processes = new(NodeCommandLine.Self(CraqNodeCommand.Name));
    private readonly string _path;
    private readonly CraqShape _shape;
    private CraqFolder? _folder;
    private CorfuClient? _client;
    private CraqAdmin? _admin;

    private CraqNodes(string path, CraqShape shape) => (_path, _shape) = (path, shape);

    public string ConnectionString => _folder!.ConnectionString().ToString();

    /// <param name="memcached">Listeners of the first node.</param>
    public static async Task<CraqNodes> StartAsync(
        string path, int nodes, ImmutableArray<string> memcached, CancellationToken cancellationToken)
    {
        var log = Path.Combine(path, "log");
        var started = new CraqNodes(path, new CraqShape("")
        {
            Datacenters = [("default", nodes)],
            Memcached = memcached,
        });
        try
        {
            var state = await started._logs.UpWholeAsync(log, s_log, cancellationToken);
            await started.UpAsync(state.ConnectionString, cancellationToken);
            started._client = await CorfuClient.ConnectAsync(
                state.ConnectionString, cancellationToken: cancellationToken);
            started._admin = await CraqAdmin.OpenAsync(started._client, cancellationToken);
            return started;
        }
        catch
        {
            // Processes outlive their parent.
            await started.DisposeAsync();
            throw;
        }
    }

    /// <summary>Creates a chain on the nodes, and waits until it takes writes.</summary>
    public async Task<CraqMembers> CreateChainAsync(
        string name, int size, ChainOptions options, CancellationToken cancellationToken)
    {
        await _admin!.CreateChainAsync(name, Placement.Implicit(1, size), options, cancellationToken);
        return await OpenedAsync(name, cancellationToken);
    }

    /// <summary>Creates a keyspace of four chains with three replicas, and waits until it takes writes.</summary>
    public async Task CreateKeyspaceAsync(string name, CancellationToken cancellationToken)
    {
        await _admin!.CreateKeyspaceAsync(
            name, 4, Placement.Implicit(1, 3), cancellationToken: cancellationToken);
        for (var i = 0; i < 4; i++) await OpenedAsync($"{name}-{i}", cancellationToken);
    }

    /// <summary>The members of a chain as they are now, from the head to the tail.</summary>
    public async Task<CraqMembers> MembersAsync(string name, CancellationToken cancellationToken) =>
        MembersOf(await _admin!.ReadAsync(cancellationToken), name);

    /// <summary>Starts the nodes that do not run.</summary>
    public Task StartAgainAsync(CancellationToken cancellationToken) =>
        UpAsync(_folder!.Manifest.Log, cancellationToken);

    public async ValueTask DisposeAsync()
    {
        if (_admin is not null) await _admin.DisposeAsync();
        if (_client is not null) await _client.DisposeAsync();
        if (CraqFolder.Exists(_path)) await _processes.DownAsync(_path, CancellationToken.None);
        var log = Path.Combine(_path, "log");
        if (ClusterFolder.Exists(log)) await _logs.DownAsync(log, CancellationToken.None);
    }

    private async Task UpAsync(string log, CancellationToken cancellationToken)
    {
        var (folder, problems) = await _processes.UpAsync(_path, _shape with { Log = log }, cancellationToken);
        _folder = folder;
        if (!problems.IsEmpty) throw new NodeStartException(string.Join('\n', problems));
    }

    private async Task<CraqMembers> OpenedAsync(string name, CancellationToken cancellationToken)
    {
        var began = Stopwatch.GetTimestamp();
        while (true)
        {
            var overview = await _admin!.ReadAsync(cancellationToken);
            if (Config(overview, name).IsRecordedOpen) return MembersOf(overview, name);
            if (Stopwatch.GetElapsedTime(began) > s_opening)
                throw new CorfuException($"The chain '{name}' did not open within {s_opening.TotalSeconds:0} s.");
            await Task.Delay(50, cancellationToken);
        }
    }

    private CraqMembers MembersOf(CraqOverview overview, string name)
    {
        var config = Config(overview, name);
        var nodes = config.Members.Select(member =>
        {
            var endpoint = overview.Find(member.Node)!.Endpoint;
            return _folder!.Manifest.Nodes.First(node => node.Endpoint == endpoint);
        });
        return new CraqMembers(name, [.. nodes.Select(_folder!.NodePath)], config.IsRecordedOpen);
    }

    private static ChainConfig Config(CraqOverview overview, string name) =>
        overview.Chains.First(chain => chain.Name == name);
}

/// <summary>The members of a chain, from the head to the tail.</summary>
/// <param name="Folders">The nodes' folders; their processes may change.</param>
/// <param name="IsOpen">The chain takes writes.</param>
internal sealed record CraqMembers(string Chain, ImmutableArray<string> Folders, bool IsOpen)
{
    public int Length => Folders.Length;

    public NodeCounts[] Counts() => [.. Folders.Select(NodeCounters.Read)];

    public double[] ProcessorSeconds() => [.. Folders.Select(folder =>
    {
        using var process = Process.GetProcessById(ProcessAt(folder));
        return process.TotalProcessorTime.TotalSeconds;
    })];

    /// <summary>Ends a member's process at once, as a crash would.</summary>
    public void Kill(int member)
    {
        using var process = Process.GetProcessById(ProcessAt(Folders[member]));
        process.Kill();
        process.WaitForExit();
    }

    private static int ProcessAt(string folder) => NodeProcess.RunningIn(folder)
        ?? throw new CorfuException($"The node in {folder} does not run; its log file says why.");
}
