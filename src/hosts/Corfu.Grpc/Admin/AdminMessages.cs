using Corfu.Agent;
using V1 = Corfu.Grpc.Protocol.Admin.V1;

namespace Corfu.Grpc;

/// <summary>The cluster, as messages have it.</summary>
internal static class AdminMessages
{
    public static V1.Node Of(NodeAddress address) =>
        new() { Id = address.Id.ToString(), Endpoint = address.Endpoint.ToString() };

    public static V1.Projection Of(Projection projection)
    {
        var told = new V1.Projection
        {
            Epoch = projection.Epoch.Value,
            Start = LogMessages.ToMessage(projection.Start),
            Sequencer = Of(projection.Sequencer),
            Units = { projection.Units.Select(Of) },
            Acceptors = { projection.Acceptors.Select(Of) },
            Chains = { projection.Active.Chains.Select(Of) },
            Segments = projection.Segments.Length,
            Reason = projection.Reason,
        };
        if (projection.ProposedAt is { } time) told.ProposedAtUnixMs = time.ToUnixTimeMilliseconds();
        return told;
    }

    public static V1.NodeReport Of(NodeReport report) => new()
    {
        Node = Of(report.Address),
        Role = report.Role.ToString().ToLowerInvariant(),
        Duty = report.Duty.ToString().ToLowerInvariant(),
        Health = report.Health.ToString().ToLowerInvariant(),
        Why = report.Why,
    };

    public static V1.Work Of(NodeAddress agent, WorkReport work) => new()
    {
        Agent = Of(agent),
        What = work.What,
        Progress = new V1.Progress
        {
            Done = work.Done,
            Total = work.Total,
            CopiedBytes = work.Bytes,
            ElapsedMs = work.ElapsedMilliseconds,
        },
        Why = work.Why,
    };

    public static V1.Progress Of(RebuildProgress progress) => new()
    {
        Done = progress.Done,
        Total = progress.Total,
        CopiedBytes = progress.CopiedBytes,
        ElapsedMs = (long)progress.Elapsed.TotalMilliseconds,
        Trouble = progress.Trouble ?? "",
    };

    private static V1.Chain Of(Chain chain) =>
        new() { Units = { chain.Replicas.Select(static replica => replica.Unit.ToString()) } };
}
