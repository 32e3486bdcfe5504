using Corfu.Simulation.Kernel;

namespace Corfu.Simulation.Workload.Objects;

/// <summary>A workload over the shared objects of Tango clients.</summary>
internal interface ITangoWorkload : IWorkload<TangoClient>
{
    /// <summary>Rare actions that take the place of what a step has drawn. Of two at once the later one wins.</summary>
    IEnumerable<Detour> Detours => [];

    /// <summary>Acts before a step of a worker, beside the step's action.</summary>
    Task BeforeStepAsync(TangoClient client, SimRandom random) => Task.CompletedTask;

    /// <summary>Runs beside a client's workers.</summary>
    /// <param name="stop">Cancelled when the workers have finished.</param>
    Task RunBesideAsync(TangoClient client, SimRandom random, CancellationToken stop) => Task.CompletedTask;
}

/// <param name="Chance">In each step, where the detour is possible.</param>
/// <param name="IsPossible">At this client now. Where false, nothing is drawn for the detour.</param>
internal sealed record Detour(
    double Chance, Func<TangoClient, bool> IsPossible, Func<TangoClient, SimRandom, Task> Step);
