using System.Collections.Immutable;
using Corfu.Protocol;

namespace Corfu.Agent;

/// <summary>How far a rebuild has got.</summary>
/// <param name="Targets">The units that are rebuilt.</param>
/// <param name="Total">Positions of all closed ranges that have joining replicas, those of the running rebuild already
/// done included.</param>
/// <param name="Done">Of these, those that are decided on every joining replica.</param>
/// <param name="Copied">Entries sent to joining replicas; what they had already is not among them.</param>
/// <param name="Closed">Holes met, and closed.</param>
/// <param name="Trouble">Why it does not get on at the moment.</param>
public sealed record RebuildProgress(
    ImmutableArray<NodeId> Targets, long Total, long Done, long Copied, long CopiedBytes, long Closed, TimeSpan Elapsed,
    string? Trouble)
{
    public static readonly RebuildProgress None = new([], 0, 0, 0, 0, 0, TimeSpan.Zero, null);

    public double Fraction => Total == 0 ? 1 : (double)Done / Total;

    /// <summary>At the speed so far; null while nothing is done.</summary>
    public TimeSpan? Remaining => Done == 0 ? null : Elapsed * ((double)(Total - Done) / Done);
}
