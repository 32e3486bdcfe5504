using System.Collections.Immutable;
using Tango;

namespace JobScheduler.Objects;

/// <summary>A finished job, when it ran and on which nodes.</summary>
[TangoValue]
public readonly record struct FinishedJob(
    [property: TangoMember(0)] PendingJob Job,
    [property: TangoMember(1)] long StartSeconds,
    [property: TangoMember(2)] ImmutableArray<NodeRange> Nodes)
{
    public long FinishSeconds => StartSeconds + Job.RunSeconds;
}
