using System.Runtime.ExceptionServices;
using Corfu;
using Corfu.Client;
using JobScheduler.Scheduling;
using JobScheduler.Workloads;
using Tango;

namespace JobScheduler.App;

/// <summary>The replicas of this process, each on its own client and runtime.</summary>
public sealed class ReplicaHost : IReplicaSet
{
    private readonly List<TangoRuntime> _runtimes = [];
    private readonly List<Replica> _replicas = [];

    private ReplicaHost()
    {
    }

    public ReplicaProgress Progress
    {
        get
        {
            // The replica that is furthest ahead knows best.
            SchedulerView? view = _replicas.Select(replica => replica.LatestView).OfType<SchedulerView>()
                .MaxBy(view => view.Started - view.Running.Count);
            return new ReplicaProgress(
                view?.Started ?? 0,
                view?.Running.Count ?? 0,
                view?.Clock ?? 0,
                view?.FreeNodes,
                _replicas.Sum(replica => replica.Counters.CommittedCount),
                _replicas.Sum(replica => replica.Counters.AbortedCount));
        }
    }

    /// <summary>Opens <paramref name="count"/> replicas on the state named <paramref name="run"/>.</summary>
    public static async Task<ReplicaHost> OpenAsync(
        ILogSource source, string run, int count, Workload workload, SchedulingLimits limits, TimeProvider time,
        CancellationToken cancellationToken)
    {
        var host = new ReplicaHost();
        try
        {
            for (int id = 0; id < count; id++)
            {
                ICorfuLog log = await source.ConnectAsync(cancellationToken);
                TangoRuntime runtime = SchedulerRuntime.Create(log, time);
                host._runtimes.Add(runtime);
                SchedulerState state = await SchedulerState.OpenRunAsync(runtime, run, cancellationToken);
                host._replicas.Add(new Replica(id, count, workload, limits, runtime, state, time));
            }
        }
        catch
        {
            await host.DisposeAsync();
            throw;
        }

        return host;
    }

    public Task<string> SetUpAsync(CancellationToken cancellationToken) => _replicas[0].SetUpAsync(cancellationToken);

    /// <summary>Runs all replicas until all jobs are finished. When one of them fails, the others are
    /// stopped.</summary>
    public async Task RunAsync(CancellationToken cancellationToken)
    {
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        Exception? failure = null;
        await Task.WhenAll(_replicas.Select(replica => Task.Run(() => RunOneAsync(replica), CancellationToken.None)));
        if (failure is not null)
            ExceptionDispatchInfo.Throw(failure);
        cancellationToken.ThrowIfCancellationRequested();

        async Task RunOneAsync(Replica replica)
        {
            try
            {
                await replica.RunAsync(stop.Token);
            }
            catch (OperationCanceledException) when (stop.IsCancellationRequested)
            {
                // Told to stop, by the caller or by the failure of another replica.
            }
            catch (Exception e)
            {
                Interlocked.CompareExchange(ref failure, e, null);
                await stop.CancelAsync();
            }
        }
    }

    public async ValueTask DisposeAsync()
    {
        foreach (TangoRuntime runtime in _runtimes)
            await runtime.DisposeAsync();
    }
}
