using Corfu.Client;
using Corfu.Client.InMemory;
using Corfu.Protocol;
using Corfu.Simulation.Checkers;
using Corfu.Simulation.Cluster;
using Corfu.Simulation.Kernel;
using Corfu.Simulation.Workload;

namespace Corfu.Simulation.Runner;

public static class SeedRunner
{
    public static SeedResult Run(ulong seed, Action<string>? trace)
    {
        var plan = SeedPlan.Of(seed);
        var world = new World(seed) { Trace = trace, SlowScheduling = plan.SlowScheduling };
        var monitor = new ClusterMonitor(world);
        var history = new LogHistory();
        var ledger = new Ledger(plan.Clients * plan.Workers * plan.OperationsPerWorker);
        var load = new LogWorkload(world, plan, history, monitor, ledger);
        int done = 0;
        var mem = new InMemoryCorfuLog(new InMemoryLogOptions { }, new SimEntropy(new SimRandom(seed)));
        for (int c = 0; c < plan.Clients; c++)
        {
            int client = c;
            var p = new SimProcess(world, c + 1, "client" + c);
            for (int w = 0; w < plan.Workers; w++)
            {
                int worker = w;
                p.Start("work", async () => { await load.WorkAsync(client, worker, mem, mem.OpenCursor, world.Random.Split($"work {client} {worker}"), () => plan.Trims); done++; });
            }
        }
        var ending = Pump.Run(world, () => done == plan.Clients * plan.Workers, 10_000_000_000, 10_000_000);
        return new SeedResult { Seed = seed, Hash = world.Hash.Value, Operations = ledger.Acknowledged, Steps = world.Steps, VirtualSeconds = world.Now / 1e7, Violations = [.. world.Failures.Select(f => new Violation(CheckerNames.Unhandled, f))] };
    }
}
