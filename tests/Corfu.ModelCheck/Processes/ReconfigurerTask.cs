using Corfu.Protocol;

namespace Corfu.ModelCheck.Processes;

/// <summary>A change of the projection, after the copy of a joining unit's ranges if one is to be made.</summary>
public sealed record ReconfigurerTask(string Name, Func<Projection, Change?> Change)
{
    /// <summary>Brings this joining unit everything that the replicas before it hold, holes closed, before the
    /// change.</summary>
    public NodeId Rebuild { get; init; }
}
