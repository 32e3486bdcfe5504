using Corfu.FaultRuns.Faults;
using Corfu.FaultRuns.Machine;
using Corfu.FaultRuns.Nodes;
using Corfu.FaultRuns.Volumes.Nodes;

namespace Corfu.FaultRuns.Volumes.Faults;

/// <summary>Brings about one fault, makes sure that it is there, and takes it away again.</summary>
internal sealed class VolumeNemesis(VolumeRig rig, WriterSeat writer, bool hasNetwork)
{
    private static readonly (string Name, int Host)[] s_clients = [("clients-0", 101), ("clients-1", 102)];

    private readonly Disruption _network = new(rig.Log);

    /// <summary>The kinds of faults that this machine allows.</summary>
    public IReadOnlyList<VolumeFaultKind> Kinds { get; } = [.. Enum.GetValues<VolumeFaultKind>()
        .Where(kind => hasNetwork || kind is not (VolumeFaultKind.CutNode or VolumeFaultKind.CutFromLog))];

    /// <returns>The fault in words, and the action that heals it.</returns>
    /// <exception cref="RunException">The fault does not act.</exception>
    public async Task<(string What, Func<Task> Heal)> InjectAsync(PlannedVolumeFault fault)
    {
        var (node, other) = (rig.Nodes[fault.Node], rig.Nodes[fault.Other]);
        return fault.Kind switch
        {
            VolumeFaultKind.KillWriter => await KillAsync([], withWriter: true),
            VolumeFaultKind.KillNode => await KillAsync([node], withWriter: false),
            VolumeFaultKind.KillTwo => await KillAsync([node, other], withWriter: false),
            VolumeFaultKind.KillAll => await KillAsync(rig.Nodes, withWriter: true),
            VolumeFaultKind.StopNode => Disruption.Stop($"{node.Name} is stopped", [node.Process!.Id]),
            VolumeFaultKind.StopLog => Disruption.Stop(
                "the log is stopped", [.. rig.Log.Nodes.Select(one => one.Process!.Id)]),
            VolumeFaultKind.CutNode => await _network.CutAsync($"{node.Name} is cut off",
                [(node.Name, node.Host)], [.. Others(node), .. LogHosts(), .. s_clients], bothWays: true, other),
            VolumeFaultKind.CutFromLog => await _network.CutAsync(
                $"{node.Name} and the log are cut off from each other", [(node.Name, node.Host)], LogHosts(),
                bothWays: true, null),
            VolumeFaultKind.FlipBits => await DamageAsync(fault, node, DiskDamage.FlipBits),
            VolumeFaultKind.CutLog => await DamageAsync(fault, node, DiskDamage.CutLog),
            VolumeFaultKind.OldDisk => await ReturnAsync(node),
            _ => await DamageTwoAsync(fault, node, other),
        };
    }

    private IEnumerable<(string Name, int Host)> Others(HostedNode node) =>
        rig.Nodes.Where(one => one != node).Select(one => (one.Name, one.Host));

    private (string Name, int Host)[] LogHosts() => [.. rig.Log.Nodes.Select(one => (one.Name, one.Host))];

    private async Task<(string, Func<Task>)> KillAsync(IReadOnlyList<HostedNode> nodes, bool withWriter)
    {
        if (withWriter) await writer.KillAsync();
        foreach (var node in nodes) await HostedNodes.KillAsync(node);
        var names = nodes.Select(node => node.Name).Concat(withWriter ? ["the writer"] : []);
        return ($"{string.Join(", ", names)} killed", () => Task.CompletedTask);
    }

    private async Task<(string, Func<Task>)> DamageAsync(
        PlannedVolumeFault fault, HostedNode node, Func<string, int, string> damage)
    {
        await HostedNodes.KillAsync(node);
        return ($"{node.Name}: {damage(rig.FolderOf(node), fault.Seed)}", () => Task.CompletedTask);
    }

    private async Task<(string, Func<Task>)> DamageTwoAsync(
        PlannedVolumeFault fault, HostedNode node, HostedNode other)
    {
        await writer.KillAsync();
        await HostedNodes.KillAsync(node);
        await HostedNodes.KillAsync(other);
        var one = DiskDamage.FlipBits(rig.FolderOf(node), fault.Seed);
        var two = DiskDamage.CutLog(rig.FolderOf(other), fault.Seed);
        return ($"the writer killed; {node.Name}: {one}; {other.Name}: {two}", () => Task.CompletedTask);
    }

    // A copy of the running node's data, some time old when it comes back: checks and identity are valid.
    private async Task<(string, Func<Task>)> ReturnAsync(HostedNode node)
    {
        var (folder, old) = (rig.FolderOf(node), rig.FolderOf(node) + ".old");
        Signals.Stop(node.Process!.Id);
        await Shell.RequireAsync($"rm -rf {old} && cp -a {folder} {old}");
        Signals.Continue(node.Process.Id);
        return ($"{node.Name} comes back with its data of before", ComeBackAsync);

        async Task ComeBackAsync()
        {
            await HostedNodes.KillAsync(node);
            await Shell.RequireAsync($"rm -rf {folder} && mv {old} {folder}");
        }
    }
}
