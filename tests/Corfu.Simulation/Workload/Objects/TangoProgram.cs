using Corfu.Simulation.Checkers;
using Corfu.Simulation.Cluster;
using Corfu.Simulation.Kernel;
using Tango;

namespace Corfu.Simulation.Workload.Objects;

/// <summary>Clients that share objects. The plan decides which workloads they mix.</summary>
internal sealed class TangoProgram : IClientProgram
{
    private readonly SeedPlan _plan;
    private readonly SimCluster _cluster;
    private readonly Ledger _ledger;
    private readonly TxHistory _history;
    private readonly Workers _workers;
    private readonly OpenClients _clients = new();
    private readonly TangoOpener _opener;
    private readonly DiskUseCheck _diskUse;
    private readonly IReadOnlyList<ITangoWorkload> _workloads;
    private readonly Detour[] _detours;

    public TangoProgram(World world, SeedPlan plan, SimCluster cluster, Ledger ledger, LogHistory log, Workers workers)
    {
        (_plan, _cluster, _ledger, _workers) = (plan, cluster, ledger, workers);
        ClusterMonitor monitor = cluster.Monitor;
        _history = new TxHistory
        {
            MaxSpan = plan.MaxSpan,
            VersionAge = plan.VersionAge,
            TicketKey = TangoClient.GateKey,
            Refuses = static (key, before, value) => key == TangoClient.GateKey && Gate.Refuses(before, value),
        };
        var trimPoint = new TrimPointChecker(monitor);
        var holds = new LogHolds(monitor, trimPoint);
        IndexWorkload? index = plan.Indexes ? new IndexWorkload(monitor, _clients) : null;
        var guard = new TrimGuard(world, plan, log, _history, monitor, trimPoint, _clients, index);
        _opener = new TangoOpener(world, plan, monitor, guard, workers);
        _diskUse = new DiskUseCheck(plan, monitor, ledger, _history.Facts, holds, index);
        List<ITangoWorkload> workloads = Mix(world, index);
        if (plan.TrimsObjects)
        {
            var naps = new Naps(world, plan, monitor, ledger, trimPoint);
            workloads.Add(new ObjectTrimWorkload(plan, monitor, _clients, holds, naps));
        }

        _workloads = workloads;
        _detours = [.. workloads.SelectMany(static workload => workload.Detours)];
    }

    private enum Ending
    {
        Done,

        /// <summary>The call met what the plan explains; the client can go on.</summary>
        Explained,

        /// <summary>The client's state contradicts the log.</summary>
        Diverged,
    }

    private ClusterMonitor Monitor => _cluster.Monitor;

    public async Task RunAsync(SimClientNode node)
    {
        if (_plan.Stumbles) Stumbles.Begin();
        if (await OpenAsync(node) is not { } client) return;
        foreach (ITangoWorkload workload in _workloads) await workload.SetUpAsync(client);
        using var stop = new CancellationTokenSource();
        Task beside = Task.WhenAll(_workloads.Select(
            workload => workload.RunBesideAsync(client, _workers.RandomOf(node, -2), stop.Token)));
        await _workers.RunAsync(node, random => WorkAsync(client, _plan.ProfileOf(node.Number), random));
        stop.Cancel();
        await beside;
        if (!client.IsOld) await PlayForOldClientsAsync(client);
    }

    public async Task AuditAsync(SimClientNode node, Func<Task> scan)
    {
        await scan();
        if (await OpenAsync(node) is { } client) await ReadLastAsync(client);
    }

    public void Scanned(LogEntry entry) => LoggedWrites.Locate(_history, entry, Monitor);

    public IEnumerable<LastAct> LastActs(SimClientNode auditor)
    {
        foreach (SimClientNode node in _cluster.Clients.Where(c => c != auditor && c.Tango is not null))
            yield return new($"the last reads of {node.Name}", node, () => ReadLastAsync(node.Tango!));
        if (auditor.Tango is { } client)
            yield return new("the last trims", auditor, () => _diskUse.RunAsync(client, auditor.Log!));
    }

    public IEnumerable<Violation> Verdicts(bool isAudited) => isAudited ? TxChecker.CheckAll(_history) : [];

    private List<ITangoWorkload> Mix(World world, IndexWorkload? index)
    {
        var recorder = new TxRecorder(world, _history, Monitor, _ledger, _plan.Asks);
        var deleted = new DeletedObjects();
        var calls = new RecordedCalls(recorder, deleted);
        var past = new PastWorkload(_history, Monitor);
        List<ITangoWorkload> mix =
        [
            new TransactionWorkload(_plan, Monitor, recorder, calls),
            new BankWorkload(Monitor, recorder, calls),
            new CallWorkload(calls),
            new GateWorkload(Monitor, recorder, calls),
            new ExchangeWorkload(recorder),
            new ViewWorkload(_history, Monitor, new CohortSamples(_plan, _history, Monitor)),
        ];
        if (_plan.TwoVersions) mix.Add(new NewerCodeWorkload(calls));
        if (_plan.Deletes) mix.Add(new TemporaryWorkload(Monitor, recorder, calls, deleted));
        if (_plan.Feeds) mix.Add(_plan.Forks ? new ForkWorkload(_history, Monitor, past) : past);
        if (_plan.Feeds) mix.Add(new FeedWorkload(_plan, _history, Monitor));
        if (index is not null) mix.Add(index);
        if (_plan.Grows) mix.Add(new GrowthWorkload(_plan, Monitor, calls, deleted));
        return mix;
    }

    private async Task<TangoClient?> OpenAsync(SimClientNode node)
    {
        if (await _opener.OpenAsync(node) is not { } client) return null;
        node.Tango = client;
        _clients.Add(client);
        return client;
    }

    private async Task WorkAsync(TangoClient client, ClientProfile profile, SimRandom random)
    {
        var table = new ActionTable<TangoClient>(_workloads, profile);
        while (!_ledger.Exhausted && !client.HasLostGroup)
        {
            await profile.ThinkAsync(client.Time, random);
            foreach (ITangoWorkload workload in _workloads) await workload.BeforeStepAsync(client, random);
            Func<TangoClient, SimRandom, Task> step = table.Draw(random);
            foreach (Detour detour in _detours)
            {
                if (detour.IsPossible(client) && random.Chance(detour.Chance)) step = detour.Step;
            }

            if (await TryAsync(client, () => StepAsync(step, client, random)) == Ending.Diverged) return;
        }
    }

    private async Task StepAsync(
        Func<TangoClient, SimRandom, Task> step, TangoClient client, SimRandom random)
    {
        try
        {
            await step(client, random);
            _ledger.Done();
        }
        catch (Exception e) when (LogRefusal.Is(e))
        {
            Monitor.Mark("operation given up");
        }
        catch (TangoConflictException)
        {
            Monitor.Mark("read fits no snapshot");
        }
    }

    /// <summary>Brings the views to the tail and lets the workloads check them: all clients that do this when nothing
    /// moves must agree. A client of older code shows the objects that have not stopped.</summary>
    private async Task ReadLastAsync(TangoClient client)
    {
        while (!client.HasLostGroup && await TryAsync(client, ReadAsync) == Ending.Explained)
        {
        }

        async Task ReadAsync()
        {
            await client.Runtime.SyncAsync();
            foreach (ITangoWorkload workload in _workloads) await workload.SettleAsync(client);
            foreach (ITangoWorkload workload in _workloads) await workload.CheckAsync(client);
        }
    }

    private async Task<Ending> TryAsync(TangoClient client, Func<Task> act)
    {
        try
        {
            await act();
            return Ending.Done;
        }
        catch (TangoObjectDeletedException e) when (_plan.Grows && _plan.Removes)
        {
            Monitor.Mark("removed member refused");
            client.LoseAnnex(TxHistory.KeyOfTemporary(e.ObjectId.Value));
        }
        catch (TangoTrimmedException) when (_plan.TrimsObjects)
        {
            // R22: the runtime fell behind; the next call loads checkpoints.
            Monitor.Mark("client fell behind a trim");
        }
        catch (TangoObjectStoppedException e) when (Stumbles.Explains(e))
        {
            Monitor.Mark("object stopped by its code");
        }
        catch (TangoObjectStoppedException e) when (client.IsOld)
        {
            Monitor.Mark("object stopped in older code");
            client.Drop(e.ObjectName);
            if (client.HasLostGroup) Monitor.Mark("group stopped in older code");
        }
        catch (TangoDivergenceException e)
        {
            Monitor.Found(CheckerNames.Decisions, $"client {client.Number}: {e.Message}");
            return Ending.Diverged;
        }

        return Ending.Explained;
    }

    /// <summary>R20: an older client waits for decisions about what it cannot read, which newer ones make as they play
    /// on.</summary>
    private async Task PlayForOldClientsAsync(TangoClient client)
    {
        while (_cluster.Clients.Any(c => _plan.IsOld(c.Number) && c.Running && !c.Finished))
        {
            await Task.Delay(TimeSpan.FromMilliseconds(50), client.Time);
            try
            {
                await client.Runtime.SyncAsync();
            }
            catch (LogUnavailableException)
            {
                Monitor.Mark("operation given up");
            }
        }
    }
}
