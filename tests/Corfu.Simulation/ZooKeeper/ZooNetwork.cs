using Corfu.Simulation.Kernel;
using Microsoft.AspNetCore.Connections;

namespace Corfu.Simulation.ZooKeeper;

/// <summary>The front ends that listen, and the ways of clients to them.</summary>
/// <param name="given">Hears of packets that front ends send, by session.</param>
internal sealed class ZooNetwork(World world, Action<long> given)
{
    private const double ShareOfCut = 0.1;

    private readonly SimRandom _random = world.Random.Split("zookeeper network");
    private readonly List<Port> _ports = [];

    /// <param name="serve">Serves a connection to its end, in the process.</param>
    public void Listen(SimProcess process, Func<ConnectionContext, Task> serve)
    {
        var port = new Port(process, serve);
        _ports.Add(port);
        process.OnKill(() => _ports.Remove(port));
    }

    public void Close(SimProcess process) => _ports.RemoveAll(port => port.Process == process);

    /// <summary>Connects to a front end. Some connections are cut after a while: neither side hears of it.</summary>
    /// <returns>Null: none listens.</returns>
    public ZooWire? Connect(SimProcess client, Action<byte[]?> received)
    {
        if (_ports.Count == 0) return null;
        Port port = _random.Pick(_ports);
        var wire = new ZooWire(world, _random, client, port.Process, received, given);
        port.Process.Start("zookeeper connection", () => wire.ServeAsync(port.Serve));
        if (_random.Chance(ShareOfCut))
            world.Schedule(null, _random.Exponential(200_000), SimEventKind.Fault, wire.Cut);
        return wire;
    }

    private sealed record Port(SimProcess Process, Func<ConnectionContext, Task> Serve);
}
