using Corfu.FaultRuns.Machine;

namespace Corfu.FaultRuns.Nodes;

/// <summary>Nodes as processes, one namespace each, over a log of processes; killed and started again.</summary>
internal sealed class HostedNodes(UndoList undo, ClusterRig log)
{
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(60);

    public List<HostedNode> All { get; } = [];

    /// <summary>Starts every node that was killed.</summary>
    /// <returns>The fault, or null.</returns>
    public async Task<string?> UpAsync()
    {
        foreach (var node in All)
        {
            if (node.Process is { HasExited: true } && !node.IsKilled)
                return $"{node.Name} has ended by itself: {node.Process.Output}";
            if (node.Process is { HasExited: false }) continue;
            node.IsKilled = false;
            node.Process = Child.Start(
                undo, log.NamespaceOf(node.Name), "corfu.dll", [], "dotnet", ClusterRig.Tool, "node", "--config",
                node.Config);
        }

        foreach (var node in All)
        {
            if (!await node.Process!.SaysAsync("serving ", s_patience))
                return $"{node.Name} does not start: {node.Process.Output}";
        }

        return null;
    }

    public static async Task KillAsync(HostedNode node)
    {
        node.IsKilled = true;
        await node.Process!.KillAsync();
    }
}
