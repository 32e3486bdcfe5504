using Corfu.Client;
using Corfu.Storage;
using Salus.Coordination;

namespace Salus.Hosting;

/// <summary>Salus nodes as processes on this machine, in one folder (<see cref="SalusFolder"/>). The processes outlive
/// this object.</summary>
public sealed class ProcessSalus(NodeCommandLine command, TimeProvider? time = null)
{
    // A store reads its log back before it serves; a process that cannot start ends at once and is not waited for.
    private static readonly TimeSpan s_startTimeout = TimeSpan.FromMinutes(5);
    private static readonly TimeSpan s_stopTimeout = TimeSpan.FromSeconds(30);
    private static readonly TimeSpan s_registering = TimeSpan.FromSeconds(20);
    private static readonly TimeSpan s_interval = TimeSpan.FromMilliseconds(100);

    private readonly TimeProvider _time = time ?? TimeProvider.System;

    /// <summary>Starts every node of the folder that does not run, making those that are asked for and not there, and
    /// waits until they are registered.</summary>
    /// <returns>The folder, and why nodes did not start.</returns>
    /// <exception cref="NodeStartException">The folder cannot be used, or the log does not answer.</exception>
    public async Task<(SalusFolder Folder, ImmutableArray<string> Problems)> UpAsync(
        string path, SalusShape shape, CancellationToken cancellationToken = default)
    {
        PrivateFolder.Create(path);
        using var held = NodeProcess.Hold(path);
        var folder = await SalusFolder.OpenOrCreateAsync(path, shape, cancellationToken);
        var missing = folder.Manifest.Nodes.Where(node => NodeProcess.RunningIn(folder.NodePath(node)) is null);
        var problems = await Task.WhenAll(missing.Select(async node =>
        {
            try
            {
                await NodeProcess.StartAsync(
                    node.Name, command, folder.ConfigPath(node), s_startTimeout, _time, cancellationToken);
                return null;
            }
            catch (NodeStartException e)
            {
                return $"{e.Message}{Environment.NewLine}  Mend that and run 'corfu salus up --dir {path}' again.";
            }
        }));
        await WaitUntilRegisteredAsync(folder, cancellationToken);
        return (folder, [.. problems.OfType<string>()]);
    }

    /// <summary>Stops the nodes that run.</summary>
    /// <returns>The names of the nodes stopped.</returns>
    /// <exception cref="NodeStartException">There are no nodes.</exception>
    public async Task<ImmutableArray<string>> DownAsync(string path, CancellationToken cancellationToken = default)
    {
        var folder = SalusFolder.Open(path);
        using var held = NodeProcess.Hold(folder.Path);
        var running = folder.Manifest.Nodes
            .Select(node => (node.Name, Process: NodeProcess.RunningIn(folder.NodePath(node))))
            .Where(node => node.Process is not null).ToImmutableArray();
        await Task.WhenAll(running.Select(node =>
            NodeProcess.StopAsync(node.Process!.Value, s_stopTimeout, _time, cancellationToken)));
        return [.. running.Select(node => node.Name)];
    }

    // Volumes are placed on registered nodes only.
    private async Task WaitUntilRegisteredAsync(SalusFolder folder, CancellationToken cancellationToken)
    {
        var running = folder.Manifest.Nodes.Where(node => NodeProcess.RunningIn(folder.NodePath(node)) is not null)
            .Select(node => node.Endpoint).ToHashSet();
        await using var log = await SalusLog.ConnectAsync(
            folder.Manifest.Log, cancellationToken: cancellationToken);
        var began = _time.GetTimestamp();
        while (_time.GetElapsedTime(began) < s_registering)
        {
            var nodes = await log.Admin.NodesAsync(cancellationToken);
            if (running.IsSubsetOf(nodes.Stores.Values.Where(node => node.State == BookedState.Live)
                .Select(node => node.Endpoint))) return;
            await Task.Delay(s_interval, _time, cancellationToken);
        }
    }
}
