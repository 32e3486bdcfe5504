namespace JobScheduler.App;

/// <summary>The scheduler replicas of one run, wherever they work.</summary>
public interface IReplicaSet : IAsyncDisposable
{
    /// <summary>How far the replicas are. Readable from any thread.</summary>
    ReplicaProgress Progress { get; }

    /// <summary>Ties the run's state to its workload; returns the fingerprint it is tied to.</summary>
    Task<string> SetUpAsync(CancellationToken cancellationToken);

    /// <summary>Runs all replicas until all jobs are finished.</summary>
    Task RunAsync(CancellationToken cancellationToken);
}

/// <summary>Progress of the replicas so far.</summary>
/// <param name="Started">Jobs started, as the replica that is furthest ahead sees it.</param>
/// <param name="Running">Started jobs that are not yet finished.</param>
/// <param name="FreeNodes">Null before the first view.</param>
/// <param name="Committed">Transactions of these replicas.</param>
/// <param name="Aborted">Transactions that lost to another one and were planned anew.</param>
/// <param name="Silos">Silos in which the replicas work; null: in this process.</param>
public sealed record ReplicaProgress(
    int Started, int Running, long Clock, int? FreeNodes, long Committed, long Aborted, SiloFigures? Silos = null);

/// <param name="Count">Silos of the run.</param>
/// <param name="Kills">Silos killed so far.</param>
/// <param name="Activations">Activations of replicas that have reported so far.</param>
public sealed record SiloFigures(int Count, int Kills, int Activations);
