using Microsoft.Extensions.Logging.Abstractions;

namespace Corfu.Hosting;

/// <summary>A cluster of processes on this machine, in one folder (<see cref="ClusterFolder"/>). The processes outlive
/// this object.</summary>
public sealed class ProcessCluster(NodeCommandLine command, ILoggerFactory? loggers = null, TimeProvider? time = null)
{
    // A unit reads its whole log back before it serves; one that cannot start ends at once and is not waited for.
    private static readonly TimeSpan StartTimeout = TimeSpan.FromMinutes(5);
    private static readonly TimeSpan StopTimeout = TimeSpan.FromSeconds(30);

    // A decided projection is installed within moments. Agents that go on without a node need a failover first.
    private static readonly TimeSpan StartSettling = TimeSpan.FromSeconds(5);
    private static readonly TimeSpan FailoverSettling = TimeSpan.FromSeconds(20);
    private static readonly TimeSpan SettlingInterval = TimeSpan.FromMilliseconds(200);

    private readonly ILoggerFactory _loggers = loggers ?? NullLoggerFactory.Instance;
    private readonly TimeProvider _time = time ?? TimeProvider.System;

    /// <summary>Starts every node of the folder that does not run, making the cluster first if there is none and nodes
    /// that are asked for and not there, and waits until the cluster serves. A sequencer that was started anew takes
    /// over by an ordinary reconfiguration. A node that cannot start keeps no other from starting:
    /// <see cref="ClusterState.Problems"/> names it.</summary>
    /// <exception cref="NodeStartException">The folder cannot be used, or holds another kind of cluster.</exception>
    public async Task<ClusterState> UpAsync(string path, ClusterShape shape,
        CancellationToken cancellationToken = default)
    {
        using var folderLock = Lock(path);
        var folder = ClusterFolder.OpenOrCreate(path, shape, SystemEntropy.Instance);
        var withoutFrontEnd = FrontEndPorts.Give(folder, shape, SystemEntropy.Instance);
        var missing = folder.Manifest.Nodes.Where(node => OwnerOf(folder, node) is null).ToImmutableArray();
        var problems = await StartAsync(folder, missing, cancellationToken);
        string? bootstrap = null;
        try
        {
            await ClusterBootstrap.RunAsync(folder, _loggers, _time, cancellationToken, shape.TakeUnitsIn);
        }
        catch (CorfuException e)
        {
            // Agents may still bring it to serve, without the nodes that are missing.
            bootstrap = e.Message;
        }

        var state = await WaitUntilServingAsync(folder.WithPresent(),
            problems.IsEmpty ? StartSettling : FailoverSettling, cancellationToken);
        if (bootstrap is not null && !(state.Verdict.IsServing && !problems.IsEmpty))
            problems = problems.Add(bootstrap);
        return state with { Problems = problems.AddRange(withoutFrontEnd) };
    }

    /// <summary>As <see cref="UpAsync"/>, for callers that need every node.</summary>
    /// <exception cref="NodeStartException">The cluster does not serve, or a node did not start; what runs goes on
    /// running.</exception>
    public async Task<ClusterState> UpWholeAsync(string path, ClusterShape shape,
        CancellationToken cancellationToken = default)
    {
        var state = await UpAsync(path, shape, cancellationToken);
        if (state.Verdict.IsServing && state.Problems.IsEmpty) return state;
        throw new NodeStartException(string.Join('\n', [.. state.Problems, state.Verdict.ToString()]));
    }

    /// <summary>Stops the nodes that run.</summary>
    /// <returns>The names of the nodes stopped.</returns>
    /// <exception cref="NodeStartException">No cluster there, or another program embeds it.</exception>
    public async Task<ImmutableArray<string>> DownAsync(string path, CancellationToken cancellationToken = default)
    {
        var folder = ClusterFolder.Open(path);
        using var folderLock = FolderLock.Take(folder.Path, FolderUse.Command);
        var running = folder.Manifest.Nodes.Select(node => (node.Name, Owner: OwnerOf(folder, node)))
            .Where(node => node.Owner is { ProcessId: > 0 })
            .ToImmutableArray();
        await Task.WhenAll(
            running.Select(
                node => NodeProcess.StopAsync(node.Owner!.Value.ProcessId, StopTimeout, _time, cancellationToken)));
        return [.. running.Select(node => node.Name)];
    }

    private static FolderOwner? OwnerOf(ClusterFolder folder, ManifestNode node)
    {
        var owner = FolderLock.OwnerOf(folder.NodePath(node));
        return owner is { Use: FolderUse.Embedded }
            ? throw new NodeStartException(
                $"The cluster in {folder.Path} is run by process {owner.Value.ProcessId}, which embeds it.")
            : owner;
    }

    private static FolderLock Lock(string path)
    {
        var full = Path.GetFullPath(path);
        if (!ClusterFolder.Exists(full)) ClusterFolder.RequireEmpty(full);
        try
        {
            PrivateFolder.Create(full);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new NodeStartException($"The cluster folder {full} cannot be used: {e.Message}", e);
        }

        return FolderLock.Take(full, FolderUse.Command);
    }

    // Returns the nodes that did not start, each with the command that mends it.
    private async Task<ImmutableArray<string>> StartAsync(
        ClusterFolder folder, ImmutableArray<ManifestNode> nodes, CancellationToken cancellationToken)
    {
        var problems = await Task.WhenAll(nodes.Select(async node =>
        {
            try
            {
                await NodeProcess.StartAsync(node.Name, command, folder.ConfigPath(node), StartTimeout, _time,
                    cancellationToken);
                return null;
            }
            catch (NodeStartException e)
            {
                return e.Message + Environment.NewLine + MendOf(folder, node);
            }
        }));
        return [.. problems.OfType<string>()];
    }

    private static string MendOf(ClusterFolder folder, ManifestNode node)
    {
        var again = $"  Mend that and run 'corfu cluster up --dir {folder.Path}' again.";
        return node.HasUnit
            ? $"{again} If its data is lost or damaged: 'corfu unit format --dir {folder.NodePath(node)}' first;"
                + " its entries are then copied from the other replicas."
            : again;
    }

    private async Task<ClusterState> WaitUntilServingAsync(ClusterFolder folder, TimeSpan limit,
        CancellationToken cancellationToken)
    {
        var began = _time.GetTimestamp();
        while (true)
        {
            var state = await ClusterProbe.StateAsync(folder, cancellationToken);
            if (state.Verdict.IsServing || _time.GetElapsedTime(began) > limit) return state;
            await Task.Delay(SettlingInterval, _time, cancellationToken);
        }
    }
}
