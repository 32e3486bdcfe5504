using Corfu.Protocol;

namespace Corfu.Agent;

/// <summary>A rebuild cannot go on: replicas differ, a page has no intact copy, or the unit that is rebuilt is damaged
/// itself.</summary>
public sealed class RebuildException(LogPosition position, NodeId unit, string message) : CorfuException(message)
{
    public LogPosition Position { get; } = position;

    /// <summary>The unit that is rebuilt: replacing it by another is the way on.</summary>
    public NodeId Unit { get; } = unit;
}
