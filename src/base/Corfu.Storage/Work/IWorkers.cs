namespace Corfu.Storage;

/// <summary>Runs a store's background work: a thread each, or the simulated process.</summary>
public interface IWorkers
{
    /// <param name="step">A round of work; rounds of one worker never overlap.</param>
    /// <param name="failed">Called with an exception of the step, which ends the worker.</param>
    IWorker Create(string name, Func<ValueTask> step, Action<Exception> failed);

    /// <summary>For the steps only.</summary>
    TimeProvider Time { get; }
}

/// <summary>Sleeps until there is work. A kick during a step causes another step. Disposal waits for the running step,
/// then takes a last one.</summary>
public interface IWorker : IAsyncDisposable
{
    bool IsStopping { get; }

    void Start();

    void Kick();

    /// <summary>From within a step: take another one after that time even without a kick.</summary>
    void WakeAfter(int milliseconds);

    /// <summary>Completes when a step that began after the call has ended, or the worker has.</summary>
    Task RunAsync();
}
