using System.Collections.Immutable;
using Corfu.Protocol;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;

namespace Corfu.Hosting;

/// <summary>A cluster of processes on this machine, in one folder (<see cref="ClusterFolder"/>). The processes outlive this object.</summary>
public sealed class ProcessCluster(NodeCommandLine command, ILoggerFactory? loggers = null, TimeProvider? time = null)
{
    // A unit reads its whole log back before it serves; one that cannot start ends at once and is not waited for.
    private static readonly TimeSpan StartPatience = TimeSpan.FromMinutes(5);
    private static readonly TimeSpan StopPatience = TimeSpan.FromSeconds(30);

    private readonly ILoggerFactory _loggers = loggers ?? NullLoggerFactory.Instance;
    private readonly TimeProvider _time = time ?? TimeProvider.System;

    /// <summary>
    /// Starts every node of the folder that does not run, making the cluster first if there is none, and waits until it serves. A
    /// sequencer that was started anew takes over by an ordinary reconfiguration.
    /// </summary>
    /// <exception cref="NodeStartException">Something does not start; the processes that this call started are stopped again.</exception>
    public async Task<ClusterState> UpAsync(string path, ClusterShape shape, CancellationToken cancellationToken = default)
    {
        var folder = ClusterFolder.OpenOrCreate(path, shape, SystemEntropy.Instance);
        using var folderLock = FolderLock.Take(folder.Path, FolderUse.Command);
        var missing = folder.Manifest.Nodes.Where(node => OwnerOf(folder, node) is null).ToImmutableArray();
        var started = await StartAsync(folder, missing, cancellationToken);
        try
        {
            await ClusterBootstrap.RunAsync(folder.Manifest, _loggers, _time, cancellationToken);
            return await ClusterProbe.StateAsync(folder, cancellationToken);
        }
        catch
        {
            await StopAsync(started);
            throw;
        }
    }

    /// <summary>Stops the nodes that run; answers their names.</summary>
    /// <exception cref="NodeStartException">No cluster there, or another program embeds it.</exception>
    public async Task<ImmutableArray<string>> DownAsync(string path, CancellationToken cancellationToken = default)
    {
        var folder = ClusterFolder.Open(path);
        using var folderLock = FolderLock.Take(folder.Path, FolderUse.Command);
        var running = folder.Manifest.Nodes
            .Select(node => (node.Name, Owner: OwnerOf(folder, node)))
            .Where(node => node.Owner is { ProcessId: > 0 })
            .ToImmutableArray();
        await Task.WhenAll(running.Select(node => NodeProcess.StopAsync(node.Owner!.Value.ProcessId, StopPatience, _time, cancellationToken)));
        return [.. running.Select(node => node.Name)];
    }

    private static FolderOwner? OwnerOf(ClusterFolder folder, ManifestNode node)
    {
        var owner = FolderLock.OwnerOf(folder.NodePath(node));
        return owner is { Use: FolderUse.Embedded }
            ? throw new NodeStartException($"The cluster in {folder.Path} is run by process {owner.Value.ProcessId}, which embeds it.")
            : owner;
    }

    private async Task<ImmutableArray<int>> StartAsync(
        ClusterFolder folder, ImmutableArray<ManifestNode> nodes, CancellationToken cancellationToken)
    {
        var starting = nodes
            .Select(node => NodeProcess.StartAsync(node.Name, command, folder.ConfigPath(node), StartPatience, _time, cancellationToken))
            .ToArray();
        try
        {
            return [.. await Task.WhenAll(starting)];
        }
        catch
        {
            await StopAsync([.. starting.Where(start => start.IsCompletedSuccessfully).Select(start => start.Result)]);
            var reasons = starting.Select(start => start.Exception?.InnerException).OfType<NodeStartException>().Select(e => e.Message).ToArray();
            if (reasons.Length == 0) throw;
            throw new NodeStartException(string.Join('\n', reasons));
        }
    }

    private async Task StopAsync(ImmutableArray<int> processes) =>
        await Task.WhenAll(processes.Select(id => NodeProcess.StopAsync(id, StopPatience, _time, CancellationToken.None)));
}
