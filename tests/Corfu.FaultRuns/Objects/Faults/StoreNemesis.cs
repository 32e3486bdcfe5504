using Corfu.FaultRuns.Faults;
using Corfu.FaultRuns.Machine;
using Corfu.FaultRuns.Nodes;
using Corfu.FaultRuns.Objects.Nodes;

namespace Corfu.FaultRuns.Objects.Faults;

/// <summary>Brings about one fault, makes sure that it is there, and takes it away again.</summary>
internal sealed class StoreNemesis(StoreRig rig, bool hasNetwork)
{
    private readonly Disruption _network = new(rig.Log);

    /// <summary>Namespaces of clients, with their hosts.</summary>
    private static readonly (string Name, int Host)[] s_clients = [("clients-0", 101), ("clients-1", 102)];

    /// <summary>The kinds of faults that this machine allows.</summary>
    public IReadOnlyList<StoreFault> Kinds { get; } = [.. Enum.GetValues<StoreFault>().Where(kind => hasNetwork
        || kind is StoreFault.KillNode or StoreFault.KillTwo or StoreFault.KillAll or StoreFault.StopNode
            or StoreFault.StopLog)];

    /// <returns>The fault in words, and the action that heals it.</returns>
    /// <exception cref="RunException">The fault does not act.</exception>
    public async Task<(string What, Func<Task> Heal)> InjectAsync(PlannedFault fault)
    {
        var (node, other) = (rig.Nodes[fault.Node], rig.Nodes[fault.Other]);
        return fault.Kind switch
        {
            StoreFault.KillNode => await KillAsync([node]),
            StoreFault.KillTwo => await KillAsync([node, other]),
            StoreFault.KillAll => await KillAsync(rig.Nodes),
            StoreFault.StopNode => Disruption.Stop($"{node.Name} is stopped", [node.Process!.Id]),
            StoreFault.StopLog => Disruption.Stop(
                "the log is stopped", [.. rig.Log.Nodes.Select(one => one.Process!.Id)]),
            StoreFault.OneWay => await _network.CutAsync($"{node.Name} reaches {other.Name} no more, but hears it",
                [(node.Name, node.Host)], [(other.Name, other.Host)], bothWays: false, other),
            StoreFault.CutPair => await _network.CutAsync($"{node.Name} and {other.Name} do not reach each other",
                [(node.Name, node.Host)], [(other.Name, other.Host)], bothWays: true, other),
            StoreFault.CutFromLog => await _network.CutAsync($"{node.Name} and the log are cut off from each other",
                [(node.Name, node.Host)], LogHosts(), bothWays: true, null),
            StoreFault.CutNode => await _network.CutAsync($"{node.Name} is cut off",
                [(node.Name, node.Host)], [.. Others(node), .. LogHosts(), .. s_clients], bothWays: true, other),
            _ => await _network.CutAsync($"{node.Name} is cut off with clients-1",
                [(node.Name, node.Host), s_clients[1]], [.. Others(node), .. LogHosts(), s_clients[0]],
                bothWays: true, other),
        };
    }

    private IEnumerable<(string Name, int Host)> Others(HostedNode node) =>
        rig.Nodes.Where(one => one != node).Select(one => (one.Name, one.Host));

    private (string Name, int Host)[] LogHosts() => [.. rig.Log.Nodes.Select(one => (one.Name, one.Host))];

    private static async Task<(string, Func<Task>)> KillAsync(IReadOnlyList<HostedNode> nodes)
    {
        foreach (var node in nodes) await HostedNodes.KillAsync(node);
        return ($"{string.Join(", ", nodes.Select(node => node.Name))} killed", () => Task.CompletedTask);
    }
}
