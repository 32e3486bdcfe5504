using Corfu.Simulation.Cluster;
using Corfu.Simulation.Kernel;

namespace Corfu.Simulation.Workload;

/// <summary>The concurrent loops of a client's process, each with a generator of its own.</summary>
internal sealed class Workers(World world, SeedPlan plan)
{
    public Task RunAsync(SimClientNode node, Func<SimRandom, Task> work) =>
        Task.WhenAll(Enumerable.Range(0, plan.Workers).Select(worker => work(RandomOf(node, worker))));

    /// <param name="worker">Negative: a loop beside the workers.</param>
    public SimRandom RandomOf(SimClientNode node, int worker) =>
        world.Random.Split($"work {node.Name} {worker} {node.Process!.Id}");
}
