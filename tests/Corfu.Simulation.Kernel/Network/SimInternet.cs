using Corfu.Protocol;

namespace Corfu.Simulation.Kernel.Network;

/// <summary>The hosts by their endpoints, and how the death of a machine looks from outside.</summary>
public sealed class SimInternet(World world)
{
    private readonly Dictionary<NodeEndpoint, SimHost> _hosts = [];
    private readonly SimRandom _random = world.Random.Split("internet");

    /// <summary>The operating systems' share of the work: it answers handshakes and never dies.</summary>
    public SimProcess Wire { get; } = new(world, 0, "wire");

    public void Add(SimHost host) => _hosts.Add(host.Endpoint, host);

    public SimHost? HostAt(NodeEndpoint endpoint) => _hosts.GetValueOrDefault(endpoint);

    internal bool ResetsOnKill(SimHost host) => host.Process is null ? _random.Chance(0.5) : _random.Chance(0.9);
}
