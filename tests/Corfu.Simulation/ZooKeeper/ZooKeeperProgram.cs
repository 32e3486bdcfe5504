using Corfu.Simulation.Cluster;
using Corfu.Simulation.Kernel;
using Corfu.Simulation.Workload;

namespace Corfu.Simulation.ZooKeeper;

/// <summary>Front ends of one tree, and clients whose sessions move between them.</summary>
internal sealed class ZooKeeperProgram(
    World world, ZooKeeperPlan plan, SimCluster cluster, LogHistory history, Ledger ledger) : IClientProgram
{
    private readonly ZooKeeperMonitor _monitor = new(cluster.Monitor);
    private readonly ToldTrims _trims = new(world, history, cluster.Monitor);
    private readonly List<ZooClientSession> _clients = [];

    private ZooNetwork Network => field ??= new ZooNetwork(world, _monitor.Given);

    private bool IsDone => _clients.TrueForAll(static client => client.IsDone);

    public async Task RunAsync(SimClientNode node)
    {
        if (_clients.Count == 0) StartClients();
        SimFrontEnd frontEnd = await SimFrontEnd.OpenAsync(node, plan, world, _monitor, _trims);
        await frontEnd.ServeAsync(Network, () => IsDone);
    }

    public async Task AuditAsync(SimClientNode node, Func<Task> scan)
    {
        SimFrontEnd reader = await SimFrontEnd.OpenAsync(node, plan, world, _monitor, _trims);
        _monitor.Audit(await reader.ReadAllAsync());
        await scan();
    }

    public IEnumerable<Violation> Verdicts(bool isAudited) => _monitor.Verdicts();

    private void StartClients()
    {
        var requests = new ZooRequests(_monitor, () => _clients);
        for (int i = 0; i < plan.Sessions; i++)
        {
            string name = $"zookeeper client {i}";
            _clients.Add(new ZooClientSession(cluster.NewProcess(name), plan, Network, _monitor, requests,
                world.Random.Split(name), ledger));
        }

        foreach (ZooClientSession client in _clients)
        {
            _monitor.Expiring += client.OnExpiring;
            client.Start();
        }
    }
}
