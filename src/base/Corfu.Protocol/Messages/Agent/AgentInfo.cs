namespace Corfu.Protocol;

/// <summary>State of an agent for people and tools.</summary>
public sealed record AgentInfoRequest(Epoch Epoch) : Request<AgentInfoResponse>(Opcode.AgentInfo, Epoch)
{
    public override Response ReadResponse(Status status, Epoch epoch, ref WireReader r) => status == Status.Ok
        ? new AgentInfoResponse(status, epoch, Automation.Read(ref r), r.Reason(),
            r.Array(29, NodeReport.Read), r.Array(42, WorkReport.Read))
        : Fail(status, epoch);

    public override Response Fail(Status status, Epoch epoch) =>
        new AgentInfoResponse(status, epoch, default, "", [], []);
}

/// <param name="Note">The change that the agent would make and may not, and the reason; empty when there is nothing to
/// do.</param>
public sealed record AgentInfoResponse(Status Status, Epoch Epoch, Automation Automation, string Note,
    ImmutableArray<NodeReport> Nodes, ImmutableArray<WorkReport> Work)
    : Response(Status, Epoch)
{
    public override void WriteBody(ref WireWriter w)
    {
        if (!IsOk) return;
        Automation.Write(ref w);
        w.Reason(Note);
        w.Array(Nodes, static (ref w, node) => node.Write(ref w));
        w.Array(Work, static (ref w, work) => work.Write(ref w));
    }
}

/// <summary>A role of the cluster, with an agent's verdict.</summary>
public sealed record NodeReport(NodeAddress Address, NodeRole Role, NodeDuty Duty, NodeHealth Health, string Why)
{
    internal void Write(ref WireWriter w)
    {
        w.Address(Address);
        w.Byte((byte)Role);
        w.Byte((byte)Duty);
        w.Byte((byte)Health);
        w.Reason(Why);
    }

    internal static NodeReport Read(ref WireReader r) =>
        new(r.Address(), (NodeRole)r.Byte(), (NodeDuty)r.Byte(), (NodeHealth)r.Byte(), r.Reason());
}

/// <summary>A background job that an agent works at, or has passed on to the next agent in order.</summary>
/// <param name="Total">Zero when unknown.</param>
/// <param name="Bytes">Bytes copied so far; zero where nothing is copied.</param>
/// <param name="ElapsedMilliseconds">Duration of the run under way; zero between two runs.</param>
/// <param name="IsPassedOn">The job made no progress here, and the next agent may work at it.</param>
/// <param name="Why">The reason why the job does not go on; empty where it does.</param>
public sealed record WorkReport(JobKind Job, string What, long Done, long Total, long Bytes, long ElapsedMilliseconds,
    bool IsPassedOn, string Why)
{
    internal void Write(ref WireWriter w)
    {
        w.Byte((byte)Job);
        w.Reason(What);
        w.Int64(Done);
        w.Int64(Total);
        w.Int64(Bytes);
        w.Int64(ElapsedMilliseconds);
        w.Bool(IsPassedOn);
        w.Reason(Why);
    }

    internal static WorkReport Read(ref WireReader r) =>
        new((JobKind)r.Byte(), r.Reason(), r.Int64(), r.Int64(), r.Int64(), r.Int64(), r.Bool(), r.Reason());
}

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

/// <summary>Duty of a role in the newest projection. Numbers are part of the wire format.</summary>
public enum NodeDuty : byte
{
    None = 0,

    /// <summary>Named by the projection.</summary>
    Serving = 1,

    /// <summary>A freshly formatted unit that waits to be taken in.</summary>
    Spare = 2,

    /// <summary>A sequencer or an acceptor that waits to take over.</summary>
    Standby = 3,

    /// <summary>A unit that has served and was removed: it never returns under this identity.</summary>
    Removed = 4,
}

/// <summary>An agent's verdict on a node. Numbers are part of the wire format.</summary>
public enum NodeHealth : byte
{
    /// <summary>Never heard of by this agent.</summary>
    Unknown = 0,

    Alive = 1,

    /// <summary>Answers, but far slower than the other nodes of its role.</summary>
    Slow = 2,

    /// <summary>No answer for longer than its answers ever took: stopped, or behind a partition.</summary>
    Silent = 3,

    /// <summary>The node's machine refuses the connection.</summary>
    Dead = 4,

    /// <summary>Another identity answers in its place, so the node never returns.</summary>
    Replaced = 5,

    /// <summary>The node reports that its disk has failed.</summary>
    Failed = 6,

    /// <summary>The node reports that its disk is full.</summary>
    Full = 7,

    /// <summary>The node announced its shutdown, and may come back.</summary>
    Leaving = 8,

    /// <summary>Silent towards this agent and alive towards others.</summary>
    Partitioned = 9,

    /// <summary>The process refuses the agent's connections for its limits: it lives, and more is not known.</summary>
    Overloaded = 10,
}
