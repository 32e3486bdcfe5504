using System.Collections.Immutable;

namespace Corfu.Protocol;

/// <param name="Note">What the agent would do and may not, and why not; empty when there is nothing to do.</param>
public sealed record AgentInfoResponse(
    Status Status, Epoch Epoch, Automation Automation, string Note, ImmutableArray<NodeReport> Nodes, ImmutableArray<WorkReport> Work)
    : Response(Status, Epoch)
{
    public override void WriteBody(ref WireWriter w)
    {
        if (!IsOk) return;
        Automation.Write(ref w);
        w.Text(Note);
        w.Int32(Nodes.Length);
        foreach (var node in Nodes)
        {
            ProjectionCodec.Address(ref w, node.Address);
            w.Byte((byte)node.Role);
            w.Byte((byte)node.Duty);
            w.Byte((byte)node.Health);
            w.Text(node.Why);
        }

        w.Int32(Work.Length);
        foreach (var work in Work)
        {
            w.Text(work.What);
            w.Int64(work.Done);
            w.Int64(work.Total);
            w.Int64(work.Bytes);
            w.Int64(work.ElapsedMilliseconds);
        }
    }

    internal static AgentInfoResponse Read(Status status, Epoch epoch, ref WireReader r)
    {
        if (status != Status.Ok) return new AgentInfoResponse(status, epoch, default, "", [], []);
        var automation = Automation.Read(ref r);
        var note = r.Text();
        var nodes = ImmutableArray.CreateBuilder<NodeReport>(r.Count(29, MessageLimits.MaxItems));
        for (var i = nodes.Capacity; i > 0; i--)
            nodes.Add(new NodeReport(ProjectionCodec.Address(ref r), (NodeRole)r.Byte(), (NodeDuty)r.Byte(), (NodeHealth)r.Byte(), r.Text()));
        var work = ImmutableArray.CreateBuilder<WorkReport>(r.Count(36, MessageLimits.MaxItems));
        for (var i = work.Capacity; i > 0; i--) work.Add(new WorkReport(r.Text(), r.Int64(), r.Int64(), r.Int64(), r.Int64()));
        return new AgentInfoResponse(status, epoch, automation, note, nodes.DrainToImmutable(), work.DrainToImmutable());
    }
}

/// <summary>One role of the cluster as an agent sees it.</summary>
public sealed record NodeReport(NodeAddress Address, NodeRole Role, NodeDuty Duty, NodeHealth Health, string Why);

/// <summary>Something long that an agent is doing.</summary>
/// <param name="Total">Zero when unknown.</param>
/// <param name="Bytes">Copied so far; zero where nothing is copied.</param>
public sealed record WorkReport(string What, long Done, long Total, long Bytes, long ElapsedMilliseconds);
