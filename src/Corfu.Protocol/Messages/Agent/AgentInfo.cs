using System.Collections.Immutable;

namespace Corfu.Protocol;

/// <summary>State of an agent for people and tools.</summary>
public sealed record AgentInfoRequest(Epoch Epoch) : Request<AgentInfoResponse>(Epoch)
{
    public override Opcode Opcode => Opcode.AgentInfo;

    public override void WriteBody(ref WireWriter w)
    {
    }

    public override Response ReadResponse(Status status, Epoch epoch, ref WireReader r) =>
        AgentInfoResponse.Read(status, epoch, ref r);

    public override Response Fail(Status status, Epoch epoch) =>
        new AgentInfoResponse(status, epoch, default, "", [], []);
}

/// <param name="Note">What the agent would do and may not, and why not; empty when there is nothing to do.</param>
public sealed record AgentInfoResponse(
    Status Status, Epoch Epoch, Automation Automation, string Note, ImmutableArray<NodeReport> Nodes,
    ImmutableArray<WorkReport> Work)
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
            w.Byte((byte)work.Job);
            w.Text(work.What);
            w.Int64(work.Done);
            w.Int64(work.Total);
            w.Int64(work.Bytes);
            w.Int64(work.ElapsedMilliseconds);
            w.Bool(work.IsPassedOn);
            w.Text(work.Why);
        }
    }

    internal static AgentInfoResponse Read(Status status, Epoch epoch, ref WireReader r)
    {
        if (status != Status.Ok) return new AgentInfoResponse(status, epoch, default, "", [], []);
        var automation = Automation.Read(ref r);
        var note = r.Text();
        var nodes = ImmutableArray.CreateBuilder<NodeReport>(r.Count(29, MessageLimits.MaxItems));
        for (var i = nodes.Capacity; i > 0; i--)
            nodes.Add(new NodeReport(ProjectionCodec.Address(ref r), (NodeRole)r.Byte(), (NodeDuty)r.Byte(),
                (NodeHealth)r.Byte(), r.Text()));
        var work = ImmutableArray.CreateBuilder<WorkReport>(r.Count(42, MessageLimits.MaxItems));
        for (var i = work.Capacity; i > 0; i--)
            work.Add(new WorkReport((JobKind)r.Byte(), r.Text(), r.Int64(), r.Int64(), r.Int64(), r.Int64(), r.Bool(),
                r.Text()));
        return new AgentInfoResponse(status, epoch, automation, note, nodes.DrainToImmutable(),
            work.DrainToImmutable());
    }
}

/// <summary>One role of the cluster as an agent sees it.</summary>
public sealed record NodeReport(NodeAddress Address, NodeRole Role, NodeDuty Duty, NodeHealth Health, string Why);

/// <summary>A background job that an agent works at, or has passed on to the agent behind it.</summary>
/// <param name="Total">Zero when unknown.</param>
/// <param name="Bytes">Copied so far; zero where nothing is copied.</param>
/// <param name="ElapsedMilliseconds">Of the run under way; zero between two runs.</param>
/// <param name="IsPassedOn">It made no progress here, and the next agent may work at it.</param>
/// <param name="Why">What keeps it from going on; empty where nothing does.</param>
public sealed record WorkReport(JobKind Job, string What, long Done, long Total, long Bytes, long ElapsedMilliseconds,
    bool IsPassedOn, string Why);

/// <summary>Numbers are part of the wire format.</summary>
public enum JobKind : byte
{
    /// <summary>Joining replicas are brought up to date.</summary>
    Rebuild = 1,

    /// <summary>Small segments are moved onto their neighbours' chains.</summary>
    Migration = 2,

    /// <summary>Replicas are compared.</summary>
    Scrub = 3,
}

/// <summary>What a role is for in the newest projection. Numbers are part of the wire format.</summary>
public enum NodeDuty : byte
{
    None = 0,

    /// <summary>Named by the projection.</summary>
    Serving = 1,

    /// <summary>A freshly formatted unit that waits to be taken in.</summary>
    Spare = 2,

    /// <summary>A sequencer or an acceptor that waits to take over.</summary>
    Standby = 3,

    /// <summary>A unit that has served and was removed: it never returns under this identity (R2).</summary>
    Removed = 4,
}

/// <summary>What an agent holds of a node. Numbers are part of the wire format.</summary>
public enum NodeHealth : byte
{
    /// <summary>Not heard of since the agent began to look.</summary>
    Unknown = 0,

    Alive = 1,

    /// <summary>Answers, and far slower than its like: gray.</summary>
    Slow = 2,

    /// <summary>No answer for longer than its answers ever took: stopped, or behind a partition.</summary>
    Silent = 3,

    /// <summary>Its machine answers and nobody listens there.</summary>
    Dead = 4,

    /// <summary>Another identity answers in its place, so it never returns (R2).</summary>
    Replaced = 5,

    /// <summary>It says itself that its disk has failed.</summary>
    Failed = 6,

    /// <summary>It says itself that its disk is full.</summary>
    Full = 7,

    /// <summary>It has said that it goes, and may come back.</summary>
    Leaving = 8,

    /// <summary>Silent towards this agent and alive towards others.</summary>
    Partitioned = 9,
}
