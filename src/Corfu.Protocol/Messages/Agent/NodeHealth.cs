namespace Corfu.Protocol;

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
