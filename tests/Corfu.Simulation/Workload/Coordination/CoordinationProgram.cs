using Corfu.Client;
using Corfu.Simulation.Checkers;
using Corfu.Simulation.Cluster;
using Corfu.Simulation.Kernel;
using Tango;

namespace Corfu.Simulation.Workload.Coordination;

/// <summary>Clients that coordinate by shared objects. All run one code, and nothing is trimmed.</summary>
internal sealed class CoordinationProgram : IClientProgram
{
    private const int CheckpointEvery = 25;
    private const int MostReadAtOnce = 50;

    private readonly World _world;
    private readonly SeedPlan _plan;
    private readonly CoordinationHistory _history = new();
    private readonly ClusterMonitor _monitor;
    private readonly Ledger _ledger;
    private readonly Workers _workers;
    private readonly IWorkload<CoordinationClient>[] _workloads;
    private readonly ActionTable<CoordinationClient> _table;

    public CoordinationProgram(World world, SeedPlan plan, ClusterMonitor monitor, Ledger ledger, Workers workers)
    {
        (_world, _plan, _monitor, _ledger, _workers) = (world, plan, monitor, ledger, workers);
        _workloads =
        [
            new LockWorkload(plan, _history, monitor, ledger),
            new QueueWorkload(plan, _history, monitor, ledger),
            new SlotWorkload(_history, monitor, ledger),
        ];
        _table = new ActionTable<CoordinationClient>(_workloads, ClientProfile.Mixed);
    }

    public async Task RunAsync(SimClientNode node)
    {
        CoordinationClient client = await OpenAsync(node);
        await _workers.RunAsync(node, random => WorkAsync(client, random));
    }

    public async Task AuditAsync(SimClientNode node, Func<Task> scan)
    {
        CoordinationClient client = await OpenAsync(node);
        foreach (IWorkload<CoordinationClient> workload in _workloads) await workload.SettleAsync(client);
        foreach (IWorkload<CoordinationClient> workload in _workloads) await workload.CheckAsync(client);
        await NoteTimesAsync(node.Log!);
        _history.IsComplete = true;
        await scan();
    }

    public IEnumerable<Violation> Verdicts(bool isAudited) => CoordinationChecker.CheckAll(_history);

    private async Task WorkAsync(CoordinationClient client, SimRandom random)
    {
        while (!_ledger.Exhausted)
        {
            try
            {
                await _table.Draw(random)(client, random);
            }
            catch (Exception e) when (LogRefusal.Is(e))
            {
                _monitor.Mark("operation given up");
            }
            catch (TangoInDoubtException)
            {
                _monitor.Mark("coordination in doubt");
            }
            catch (TangoAbortedException)
            {
                _monitor.Mark("coordination aborted");
            }
        }
    }

    private async Task NoteTimesAsync(ICorfuLog log)
    {
        long tail = (await log.CheckAsync([])).Tail.Offset;
        for (long from = 0; from < tail; from += MostReadAtOnce)
        {
            var positions = Enumerable.Range(0, (int)Math.Min(MostReadAtOnce, tail - from))
                .Select(i => new LogPosition(from + i));
            foreach (LogReadResult result in await log.ReadManyAsync([.. positions]))
            {
                if (result.Entry is { } entry)
                    _history.MadeAt[entry.Position] = entry.WriterTime.ToUnixTimeMilliseconds();
            }
        }
    }

    private async Task<CoordinationClient> OpenAsync(SimClientNode node)
    {
        var options = new TangoOptions
        {
            NewLogMaxSpan = _plan.MaxSpan,
            // Processes that wait for nothing watch leases, too.
            IdlePlayback = _plan.LeaseTime / 2,
            OrphanTimeout = _plan.OrphanTimeout,
            Decisions = _plan.Asks(node.Number) ? TransactionDecisions.Sequencer : TransactionDecisions.Playback,
            CellBits = _plan.CellBits,
            Checkpoints = _plan.Checkpoints
                ? new CheckpointPolicy { Updates = CheckpointEvery, TrimsLog = false }
                : null,
        };
        while (true)
        {
            try
            {
                return await CoordinationClient.OpenAsync(
                    node, _plan.Seed % 2 == 0, options, new SimLogger(_world, node.Name));
            }
            catch (Exception e) when (e is TangoInDoubtException || LogRefusal.Is(e))
            {
                _monitor.Mark("opening was in doubt");
            }
        }
    }
}
