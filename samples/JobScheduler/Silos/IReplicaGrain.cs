using Orleans;
using Orleans.Concurrency;

namespace JobScheduler.Silos;

/// <summary>A scheduler replica; its key is the replica's number.</summary>
[Alias("job-scheduler.replica")]
internal interface IReplicaGrain : IGrainWithIntegerKey
{
    /// <summary>Activates the replica where it is not active, and tells how far it is. It works between calls
    /// too.</summary>
    /// <param name="startLimit">The replica starts no more jobs once so many have been started.</param>
    [Alias("report")]
    Task<ReplicaReport> ReportAsync(int startLimit);
}

/// <summary>How far one activation of a replica is.</summary>
/// <param name="Silo">The name of the silo that it is on.</param>
/// <param name="Fault">Why it gave up; null while it works.</param>
/// <param name="IsDone">Whether the replica has seen all jobs finished.</param>
/// <param name="FreeNodes">Null before its first view.</param>
/// <param name="Committed">Transactions of this activation.</param>
/// <param name="Aborted">Transactions of this activation.</param>
[GenerateSerializer, Immutable, Alias("job-scheduler.report")]
internal sealed record ReplicaReport(
    [property: Id(0)] Guid Activation,
    [property: Id(1)] string Silo,
    [property: Id(2)] bool IsDone,
    [property: Id(3)] string? Fault,
    [property: Id(4)] int Started,
    [property: Id(5)] int Running,
    [property: Id(6)] long Clock,
    [property: Id(7)] int? FreeNodes,
    [property: Id(8)] long Committed,
    [property: Id(9)] long Aborted);
