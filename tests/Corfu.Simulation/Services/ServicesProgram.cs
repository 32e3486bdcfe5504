using Corfu.Simulation.Cluster;
using Corfu.Simulation.Kernel;
using Corfu.Simulation.Workload;

namespace Corfu.Simulation.Services;

/// <summary>Processes that share a service on the log.</summary>
internal sealed class ServicesProgram : IClientProgram
{
    private readonly Ledger _ledger;
    private readonly Workers _workers;
    private readonly IService _service;

    public ServicesProgram(World world, ServicesPlan plan, SimCluster cluster, LogHistory history, Ledger ledger,
        Workers workers)
    {
        (_ledger, _workers) = (ledger, workers);
        var trims = new ToldTrims(world, history, cluster.Monitor);
        _service = plan.Service switch
        {
            ServiceKind.Machine => new MachineService(plan, cluster.Monitor, trims),
            ServiceKind.Ledgers => new LedgerService(plan, cluster.Monitor, trims, world),
            _ => new StoreService(plan, cluster.Monitor, trims, world),
        };
    }

    public async Task RunAsync(SimClientNode node)
    {
        IServiceProcess process = await _service.OpenAsync(node);
        await _workers.RunAsync(node, async random =>
        {
            while (!_ledger.Exhausted)
            {
                await Task.Delay(TimeSpan.FromTicks(random.Exponential(10_000) + 1), node.Process!.Time);
                await process.StepAsync(random);
                _ledger.Done();
            }
        });
        await process.DisposeAsync();
    }

    public async Task AuditAsync(SimClientNode node, Func<Task> scan)
    {
        IServiceProcess process = await _service.OpenAsync(node);
        await process.AuditAsync();
        await process.DisposeAsync();
        await scan();
    }

    public IEnumerable<Violation> Verdicts(bool isAudited) => [];
}

/// <summary>A service, with all that its processes were told.</summary>
internal interface IService
{
    Task<IServiceProcess> OpenAsync(SimClientNode node);
}

/// <summary>A process of a service.</summary>
internal interface IServiceProcess : IAsyncDisposable
{
    Task StepAsync(SimRandom random);

    /// <summary>Compares the service with what its processes were told, when nothing moves.</summary>
    Task AuditAsync();
}
