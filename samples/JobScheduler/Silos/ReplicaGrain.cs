using Corfu.Client;
using JobScheduler.App;
using JobScheduler.Scheduling;
using Orleans;
using Orleans.Runtime;
using Tango;

namespace JobScheduler.Silos;

/// <summary>A replica as a grain: Orleans decides where it is active, the log holds what it works on.</summary>
/// <remarks>
/// Two activations may work at once: a silo that is cut off goes on until it learns that it was declared dead. That
/// harms nothing. Each step is a transaction that re-reads what its plan relied on, so one of two equal steps commits
/// and the other aborts. The grain's single activation saves work; it is not what keeps the schedule right.
/// </remarks>
internal sealed class ReplicaGrain(
    SiloWork work, ILocalSiloDetails silo, [PersistentState("places")] IPersistentState<ReplicaPlaces> places)
    : Grain, IReplicaGrain
{
    private readonly Guid _activation = Guid.NewGuid();
    private readonly CancellationTokenSource _stop = new();
    private Task _working = Task.CompletedTask;
    private volatile Replica? _replica;
    private volatile string? _fault;
    private int _startLimit;

    public override async Task OnActivateAsync(CancellationToken cancellationToken)
    {
        places.State.Activations++;
        places.State.LastSilo = silo.Name;
        await places.WriteStateAsync(cancellationToken);
    }

    public Task<ReplicaReport> ReportAsync(int startLimit)
    {
        Volatile.Write(ref _startLimit, startLimit);
        if (_replica is { } replica)
            replica.StartLimit = startLimit;
        if (_working.IsCompleted && _fault is null && !IsDone)
            // On the thread pool: a client of the log must not run on the scheduler of one activation.
            _working = Task.Run(() => WorkAsync((int)this.GetPrimaryKeyLong(), _stop.Token));
        SchedulerView? view = _replica?.LatestView;
        return Task.FromResult(new ReplicaReport(
            _activation, silo.Name, IsDone, _fault, view?.Started ?? 0, view?.Running.Count ?? 0, view?.Clock ?? 0,
            view?.FreeNodes, _replica?.Counters.CommittedCount ?? 0, _replica?.Counters.AbortedCount ?? 0));
    }

    public override async Task OnDeactivateAsync(DeactivationReason reason, CancellationToken cancellationToken)
    {
        await _stop.CancelAsync();
        await _working;
        _stop.Dispose();
    }

    // Set by the worker's end, read by the activation.
    private bool IsDone => Volatile.Read(ref _isDone);

    private bool _isDone;

    private async Task WorkAsync(int id, CancellationToken cancellationToken)
    {
        try
        {
            await using CorfuClient log =
                await CorfuClient.ConnectAsync(work.Connection, cancellationToken: cancellationToken);
            await using TangoRuntime runtime = SchedulerRuntime.Create(log, TimeProvider.System);
            SchedulerState state = await SchedulerState.OpenRunAsync(runtime, work.Run, cancellationToken);
            var replica = new Replica(
                id, work.Replicas, work.Workload, work.Limits, runtime, state, TimeProvider.System);
            _replica = replica;
            replica.StartLimit = Volatile.Read(ref _startLimit);
            await replica.RunAsync(cancellationToken);
            Volatile.Write(ref _isDone, true);
        }
        catch (OperationCanceledException) when (cancellationToken.IsCancellationRequested)
        {
            // Deactivated.
        }
        catch (Exception e)
        {
            // The report tells; the run decides.
            _fault = e.Message;
        }
    }
}

/// <summary>Places where a replica was active: grain state, so that it outlives its silos.</summary>
[GenerateSerializer, Alias("job-scheduler.places")]
internal sealed class ReplicaPlaces
{
    [Id(0)]
    public int Activations { get; set; }

    [Id(1)]
    public string LastSilo { get; set; } = "";
}
