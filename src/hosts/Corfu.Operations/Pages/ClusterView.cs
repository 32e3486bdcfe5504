using Corfu.Agent;
using Corfu.Hosting;

namespace Corfu.Operations.Pages;

/// <summary>The cluster as the node's agent sees it, and how old that is.</summary>
/// <param name="Age">Since the agent has said it.</param>
/// <param name="EpochAge">Since a majority of acceptors has confirmed the epoch.</param>
internal sealed record ClusterView(
    ClusterVerdict Verdict, Epoch Epoch, TimeSpan Age, TimeSpan EpochAge, AgentReport Agent)
{
    public const string Unknown =
        "The node's agent has not looked at the cluster yet: no majority of acceptors has answered it.";

    public static ClusterView? Of(NodeSurroundings node)
    {
        if (node.Running() is not { Agent: { Confirmed: { } confirmed } agent } running) return null;
        var now = node.Time.GetUtcNow();
        var projection = running.Projection;
        return new ClusterView(ClusterVerdict.Of(projection, agent.Info), projection?.Epoch ?? Epoch.None,
            Since(agent.At), Since(confirmed), agent);

        TimeSpan Since(DateTimeOffset then) => now > then ? now - then : TimeSpan.Zero;
    }
}
