using Corfu.Simulation.Kernel;

namespace Corfu.Simulation.Workload;

/// <summary>
/// A purpose of a client's calls: how it prepares a client, the actions that it offers, and what it checks at the
/// end. A client program mixes several workloads over the same clients.
/// </summary>
/// <typeparam name="TClient">The objects and streams that a client has open for its workloads.</typeparam>
internal interface IWorkload<TClient>
{
    /// <summary>Actions of which a worker may draw one in each step, in the order of the table.</summary>
    IEnumerable<WorkloadAction<TClient>> Actions => [];

    /// <summary>Prepares the objects of a client's process before its workers begin.</summary>
    Task SetUpAsync(TClient client) => Task.CompletedTask;

    /// <summary>Finishes what is still open once faults are healed. May write.</summary>
    Task SettleAsync(TClient client) => Task.CompletedTask;

    /// <summary>Reads and compares once all workloads have settled. Nothing else moves.</summary>
    Task CheckAsync(TClient client) => Task.CompletedTask;
}

/// <param name="Weight">Share among the actions of the mix, by the client's profile; 0: never.</param>
/// <param name="Step">Carries the action out. All randomness is drawn from the generator given.</param>
/// <param name="Writes">Left out at clients that only read.</param>
internal sealed record WorkloadAction<TClient>(
    Func<ClientProfile, double> Weight, Func<TClient, SimRandom, Task> Step, bool Writes = false)
{
    public WorkloadAction(double weight, Func<TClient, SimRandom, Task> step, bool writes = false)
        : this(_ => weight, step, writes)
    {
    }

    /// <summary>If false, the last action of the table is carried out instead.</summary>
    public Func<bool> IsPossible { get; init; } = static () => true;
}
