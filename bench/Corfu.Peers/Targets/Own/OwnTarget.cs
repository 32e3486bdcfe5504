using Corfu.Hosting;
using Corfu.Load;

namespace Corfu.Peers;

/// <summary>This project: a cluster of processes in one shape, its client, and a dictionary on it.</summary>
internal sealed class OwnTarget(int units, int replicas) : ITarget
{
    public TargetInfo Info { get; } = new(
        $"Corfu {units}x{replicas}", replicas, units + 1, "none",
        "append: an entry of the log; write: SetAsync of the caller's key;"
        + $" each synced by {replicas} of {units} units before the answer",
        "TryGetAsync of a TangoDictionary: its tail is confirmed by the servers, the value is in the client's memory",
        "Corfu.Client, one connection for each server");

    public bool IsPeer => false;

    public string? Missing => null;

    public Task<string> VersionAsync() => Task.FromResult(RunInfo.Current.Commit);

    public async Task<IRunningTarget> StartAsync(string folder, LoadShape load, CancellationToken cancellationToken)
    {
        var processes = new ProcessCluster(NodeCommandLine.Self(NodeProcessCommand.Name));
        try
        {
            var state = await processes.UpWholeAsync(folder,
                new ClusterShape { Units = units, Replicas = replicas }, cancellationToken);
            return await RunningOwnTarget.OpenAsync(processes, folder, state, load, cancellationToken);
        }
        catch
        {
            await DownAsync(processes, folder);
            throw;
        }
    }

    // The folder of a start that was given up early may hold no cluster yet.
    private static async Task DownAsync(ProcessCluster processes, string folder)
    {
        try
        {
            await processes.DownAsync(folder);
        }
        catch (NodeStartException)
        {
            // Nothing was started.
        }
    }
}
