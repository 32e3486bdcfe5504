using System.Collections.Immutable;
using Tango;

namespace JobScheduler.Objects;

/// <summary>A finished job, when it ran and on which nodes.</summary>
[MessagePackObject]
public readonly record struct FinishedJob(
    [property: Key(0)] PendingJob Job,
    [property: Key(1)] long StartSeconds,
    [property: Key(2)] ImmutableArray<NodeRange> Nodes)
{
    public long FinishSeconds => StartSeconds + Job.RunSeconds;
}
