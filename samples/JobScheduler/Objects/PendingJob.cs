using JobScheduler.Workloads;
using Tango;

namespace JobScheduler.Objects;

/// <summary>A submitted job in the pending queue. Jobs are submitted ahead of the virtual clock: none starts before
/// <see cref="SubmitSeconds"/>.</summary>
[TangoValue]
public readonly record struct PendingJob(
    [property: TangoMember(0)] long Number,
    [property: TangoMember(1)] long SubmitSeconds,
    [property: TangoMember(2)] long RunSeconds,
    [property: TangoMember(3)] int Nodes,
    [property: TangoMember(4)] int User)
{
    public long NodeSeconds => Nodes * RunSeconds;

    public static PendingJob From(Job job) => new(job.Number, job.SubmitSeconds, job.RunSeconds, job.Nodes, job.User);
}
