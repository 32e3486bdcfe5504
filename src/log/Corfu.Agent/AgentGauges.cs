using System.Diagnostics.Metrics;

namespace Corfu.Agent;

/// <summary>The words of the agents of this process about the cluster, read when a collector asks.</summary>
internal static class AgentGauges
{
    public static readonly Observed<ClusterAgent> Agents = new();

    private static readonly BoundedValues Nodes = new(BoundedValues.Nodes);

    static AgentGauges()
    {
        var meter = AgentTelemetry.Meter;
        Agents.Highest(meter, "corfu.agent.epoch", "{epoch}", "Newest epoch that the agent knows.",
            static agent => agent.Projection?.Epoch.Value ?? 0);
        Agents.Highest(meter, "corfu.agent.deny.entry", "{certificate}", "Certificates that are revoked by hand.",
            static agent => agent.Denied.Entries.Length);
        Agents.Gauges(meter, "corfu.agent.automation", "{agent}", "1: the agent reconfigures on its own.",
            static agent => agent.Newest is { } newest ? [new(newest.Info.Automation.IsOn ? 1 : 0)] : []);
        Agents.Gauges(meter, "corfu.agent.spare", "{node}", "Units and sequencers that wait to take over, and answer.",
            static agent => agent.Newest is { } newest
                ? [Spares(newest.Info.Nodes, NodeRole.Unit), Spares(newest.Info.Nodes, NodeRole.Sequencer)]
                : []);
        Agents.Gauges(meter, "corfu.agent.node.health", "{node}", "1 for the health that the agent sees.",
            static agent => agent.Newest is { } newest ? HealthOf(newest.Info.Nodes) : []);
        Agents.Gauges(meter, "corfu.agent.job.remaining", "{position}", "What a background job has still to do.",
            static agent => WorkOf(agent, static work => Math.Max(0, work.Total - work.Done)));
        Agents.Gauges(meter, "corfu.agent.job.io", "By", "What the run under way of a background job has copied.",
            static agent => WorkOf(agent, static work => work.Bytes));
    }

    private static Measurement<long> Spares(ImmutableArray<NodeReport> nodes, NodeRole role) =>
        new(nodes.Count(node => node.Role == role && IsSpare(node)), "corfu.role".With(role.ToString()));

    private static bool IsSpare(NodeReport node) => node is
    { Duty: NodeDuty.Spare or NodeDuty.Standby, Health: NodeHealth.Alive or NodeHealth.Slow };

    // Nodes beyond the bound share one name: the number of them stands there.
    private static IEnumerable<Measurement<long>> HealthOf(ImmutableArray<NodeReport> nodes) =>
        from node in nodes
        group node by (Node: Nodes.Of(node.Address.Endpoint.ToString()), node.Role, node.Health) into same
        select new Measurement<long>(same.Count(), "corfu.node".With(same.Key.Node),
            "corfu.role".With(same.Key.Role.ToString()), "corfu.health".With(same.Key.Health.ToString()));

    private static IEnumerable<Measurement<long>> WorkOf(ClusterAgent agent, Func<WorkReport, long> figure) =>
        from work in agent.Newest?.Info.Work ?? []
        select new Measurement<long>(figure(work), "corfu.job".With(work.Job.ToString()));
}
