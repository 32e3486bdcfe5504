using System.Collections.Concurrent;
using Corfu;
using Corfu.Client;
using JobScheduler.App;
using JobScheduler.Cli;
using JobScheduler.Scheduling;
using JobScheduler.Workloads;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Orleans;
using Orleans.Configuration;
using Orleans.Hosting;
using Tango;

namespace JobScheduler.Silos;

/// <summary>The replicas as grains on silo processes, some of which are killed meanwhile. This process is a client of
/// the silos: it finds them, as they find each other, through the log.</summary>
internal sealed class SiloReplicas : IReplicaSet
{
    private readonly ILogSource _source;
    private readonly string _run;
    private readonly int _count;
    private readonly Workload _workload;
    private readonly SiloSet _silos;
    private readonly IHost _client;
    private readonly KillPlan _plan;

    // The newest report of every activation: what a replica did before its silo was killed counts too.
    private readonly ConcurrentDictionary<Guid, (int Replica, ReplicaReport Report)> _reports = new();

    private SiloReplicas(
        SchedulerOptions options, ILogSource source, string run, Workload workload, SiloSet silos, IHost client)
    {
        (_source, _run, _count, _workload, _silos, _client) =
            (source, run, options.Replicas, workload, silos, client);
        _plan = new KillPlan(workload.Jobs.Count, options.Kills);
    }

    public ReplicaProgress Progress
    {
        get
        {
            ReplicaReport[] reports = [.. _reports.Values.Select(entry => entry.Report)];
            ReplicaReport? furthest = reports.MaxBy(report => report.Started - report.Running);
            return new ReplicaProgress(
                furthest?.Started ?? 0,
                furthest?.Running ?? 0,
                furthest?.Clock ?? 0,
                furthest?.FreeNodes,
                reports.Sum(report => report.Committed),
                reports.Sum(report => report.Aborted),
                new SiloFigures(_silos.Count, _plan.Done, reports.Length));
        }
    }

    /// <summary>Starts the silos and connects to them.</summary>
    /// <exception cref="SiloException">The silos did not start.</exception>
    public static async Task<SiloReplicas> OpenAsync(
        SchedulerOptions options, ILogSource source, string run, Workload workload, SchedulingLimits limits,
        CancellationToken cancellationToken)
    {
        string connection = source.ConnectionString
            ?? throw new SiloException("the log is in this process only: silos cannot reach it");
        var settings = new SiloSettings(
            options, run, limits.TurnLength, connection, $"job-scheduler-{Guid.NewGuid():N}", "", 0, 0);
        SiloSet silos = await SiloSet.StartAsync(settings, cancellationToken);
        IHost? client = null;
        try
        {
            client = BuildClient(settings);
            await client.StartAsync(cancellationToken);
            return new SiloReplicas(options, source, run, workload, silos, client);
        }
        catch
        {
            client?.Dispose();
            await silos.DisposeAsync();
            throw;
        }
    }

    /// <summary>Done by this process: the silos need it done before they work.</summary>
    public async Task<string> SetUpAsync(CancellationToken cancellationToken)
    {
        ICorfuLog log = await _source.ConnectAsync(cancellationToken);
        await using TangoRuntime runtime = SchedulerRuntime.Create(log, TimeProvider.System);
        SchedulerState state = await SchedulerState.OpenRunAsync(runtime, _run, cancellationToken);
        return await new SchedulerTransactions(runtime, state, 0, new ReplicaCounters())
            .SetUpAsync(_workload, cancellationToken);
    }

    public async Task RunAsync(CancellationToken cancellationToken)
    {
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        Task keeping = KeepSilosAsync(stop.Token);
        List<Task> working = [.. Enumerable.Range(0, _count).Select(id => KeepWorkingAsync(id, stop.Token))];
        try
        {
            while (working.Count > 0)
            {
                Task ended = await Task.WhenAny([keeping, .. working]);
                await ended;
                working.Remove(ended);
            }
        }
        finally
        {
            await stop.CancelAsync();
            await Task.WhenAll([keeping, .. working]).ContinueWith(
                _ => { }, CancellationToken.None, TaskContinuationOptions.None, TaskScheduler.Default);
        }

        cancellationToken.ThrowIfCancellationRequested();
    }

    public async ValueTask DisposeAsync()
    {
        // The client first: it would report the end of its gateways.
        using (_client)
            await _client.StopAsync();
        await _silos.DisposeAsync();
    }

    private async Task KeepWorkingAsync(int id, CancellationToken cancellationToken)
    {
        IReplicaGrain grain = _client.Services.GetRequiredService<IClusterClient>().GetGrain<IReplicaGrain>(id);
        long answered = TimeProvider.System.GetTimestamp();
        while (true)
        {
            try
            {
                ReplicaReport report = await grain.ReportAsync(_plan.StartLimit).WaitAsync(cancellationToken);
                if (report.Fault is { } fault)
                    throw new SiloException($"replica {id} on {report.Silo} gave up: {fault}");
                _reports[report.Activation] = (id, report);
                if (report.IsDone)
                    return;
                answered = TimeProvider.System.GetTimestamp();
            }
            catch (Exception e) when (e is not (OperationCanceledException or SiloException)
                && TimeProvider.System.GetElapsedTime(answered) < SiloTimes.Patience)
            {
                // The replica's silo is gone, or not yet known to be: another one activates it soon.
            }

            await Task.Delay(SiloTimes.Report, cancellationToken);
        }
    }

    // Silos are killed one at a time: the next is killed when all places are taken again.
    private async Task KeepSilosAsync(CancellationToken cancellationToken)
    {
        while (true)
        {
            await _silos.MendAsync(cancellationToken);
            if (_plan.IsDue(Progress.Started))
                await _silos.ReplaceAsync(SilosAtWork(), _plan.Killed, cancellationToken);
            await Task.Delay(SiloTimes.Report, cancellationToken);
        }
    }

    private HashSet<string> SilosAtWork() =>
        [.. _reports.Values.Where(entry => !entry.Report.IsDone).Select(entry => entry.Report.Silo)];

    private static IHost BuildClient(SiloSettings settings)
    {
        HostApplicationBuilder builder = Host.CreateApplicationBuilder();
        builder.Logging.SetMinimumLevel(LogLevel.Critical);
        builder.Logging.AddConsole(options => options.LogToStandardErrorThreshold = LogLevel.Trace);
        // Ctrl-C ends the run, which ends the client.
        builder.Services.AddSingleton<IHostLifetime, NoLifetime>();
        builder.UseOrleansClient(client => client
            .Configure<ClusterOptions>(options =>
            {
                options.ClusterId = settings.Cluster;
                options.ServiceId = SiloSettings.Service;
            })
            .Configure<ClientMessagingOptions>(options => options.ResponseTimeout = SiloTimes.Response)
            .Configure<GatewayOptions>(options => options.GatewayListRefreshPeriod = SiloTimes.GatewayRefresh)
            .UseCorfuClustering(settings.Connection));
        return builder.Build();
    }

    private sealed class NoLifetime : IHostLifetime
    {
        public Task WaitForStartAsync(CancellationToken cancellationToken) => Task.CompletedTask;

        public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;
    }
}
