using Corfu.Simulation.Cluster;
using Corfu.Simulation.Workload;
using Corfu.StateMachines;

namespace Corfu.Simulation.Services;

/// <summary>A state machine with a replica in each process.</summary>
internal sealed class MachineService(ServicesPlan plan, ClusterMonitor monitor, ToldTrims trims) : IService
{
    private readonly MachineMonitor _monitor = new(monitor);
    private readonly MachineUser[] _users =
        [.. Enumerable.Range(0, plan.Users).Select(static id => new MachineUser(id))];

    public async Task<IServiceProcess> OpenAsync(SimClientNode node)
    {
        var process = new MachineProcess(node, _users, _monitor, OptionsOf(node));
        await process.OpenAsync();
        return process;
    }

    private ReplicaOptions OptionsOf(SimClientNode node) => new()
    {
        MaxBatchCommands = 4,
        MaxAppends = 2,
        MaxSessions = plan.MaxSessions,
        SnapshotCommands = plan.SnapshotCommands,
        SnapshotPatience = TimeSpan.FromMilliseconds(200),
        Attempts = plan.Attempts,
        Retain = async (below, _) =>
        {
            monitor.Mark("machine snapshot written");
            if (plan.Trims) await trims.TrimAsync(node, below, "machine trimmed below");
        },
        Time = node.Process!.Time,
        Entropy = node.Entropy,
        Loops = node.Process!.Loops,
    };
}
