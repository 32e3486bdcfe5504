using Corfu.FaultRuns.ZooKeeper.Clients;

namespace Corfu.FaultRuns.ZooKeeper.Workers;

/// <summary>Sessions of the run, and their histories.</summary>
internal sealed class ZooClients(IReadOnlyList<int> ports)
{
    private readonly List<ZooLife> _lives = [];

    /// <summary>All histories; complete once their sessions are disposed of.</summary>
    public IReadOnlyList<ZooLife> Lives
    {
        get
        {
            lock (_lives) return [.. _lives];
        }
    }

    /// <param name="timeout">In ms.</param>
    public ZooSession Open(string name, int timeout, int seed)
    {
        var life = new ZooLife(name);
        lock (_lives) _lives.Add(life);
        return new ZooSession(life, ports, timeout, seed);
    }
}
