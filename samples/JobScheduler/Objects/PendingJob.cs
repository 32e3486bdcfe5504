using JobScheduler.Workloads;
using Tango;

namespace JobScheduler.Objects;

/// <summary>A submitted job in the pending queue. Jobs are submitted ahead of the virtual clock: none starts before
/// <see cref="SubmitSeconds"/>.</summary>
[MessagePackObject]
public readonly record struct PendingJob(
    [property: Key(0)] long Number,
    [property: Key(1)] long SubmitSeconds,
    [property: Key(2)] long RunSeconds,
    [property: Key(3)] int Nodes,
    [property: Key(4)] int User)
{
    public long NodeSeconds => Nodes * RunSeconds;

    public static PendingJob From(Job job) => new(job.Number, job.SubmitSeconds, job.RunSeconds, job.Nodes, job.User);
}
