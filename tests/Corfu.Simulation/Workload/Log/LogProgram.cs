using Corfu.Protocol;
using Corfu.Simulation.Cluster;
using Corfu.Simulation.Kernel;

namespace Corfu.Simulation.Workload.Log;

/// <summary>Clients straight on the log.</summary>
internal sealed class LogProgram : IClientProgram
{
    private readonly SeedPlan _plan;
    private readonly LogHistory _history;
    private readonly ClusterMonitor _monitor;
    private readonly Ledger _ledger;
    private readonly Workers _workers;
    private readonly IWorkload<LogClient>[] _workloads;

    public LogProgram(
        World world, SeedPlan plan, LogHistory history, ClusterMonitor monitor, Ledger ledger, Workers workers)
    {
        (_plan, _history, _monitor, _ledger, _workers) = (plan, history, monitor, ledger, workers);
        var streams = new LogStreams(plan, ledger);
        var notes = new PageNotes(world, history, monitor);
        var fills = new FillWorkload(world, monitor, ledger, notes);
        _workloads =
        [
            new AppendWorkload(world, plan, history, monitor, ledger, streams),
            new ReadWorkload(world, ledger, notes),
            new StreamWorkload(world, plan, history, monitor, streams),
            fills,
            new TrimWorkload(world, plan, history, monitor, ledger),
            // Last: a check is always possible.
            new TailWorkload(world, history, monitor, ledger, streams, fills),
        ];
    }

    public Task RunAsync(SimClientNode node) =>
        _workers.RunAsync(node, random => WorkAsync(new LogClient(node), _plan.ProfileOf(node.Number), random));

    public async Task AuditAsync(SimClientNode node, Func<Task> scan)
    {
        await scan();
        var client = new LogClient(node);
        foreach (IWorkload<LogClient> workload in _workloads) await workload.CheckAsync(client);
    }

    public IEnumerable<Violation> Verdicts(bool isAudited) =>
        isAudited ? LogChecker.CheckAll(_history) : LogChecker.CheckAnswers(_history);

    private async Task WorkAsync(LogClient client, ClientProfile profile, SimRandom random)
    {
        var table = new ActionTable<LogClient>(_workloads, profile);
        while (!_ledger.Exhausted)
        {
            await profile.ThinkAsync(client.Time, random);
            try
            {
                await table.Draw(random)(client, random);
                _ledger.Done();
            }
            catch (LogUnavailableException)
            {
                _monitor.Mark("operation given up");
            }
            catch (CorfuStatusException e) when (e.Status == Status.NoSpace && _plan.Has(FaultKind.FullDisk))
            {
                _monitor.Mark("append refused by a full disk");
                // As a program would: tried again at once, refused appends only burn positions (seed 20717).
                await Task.Delay(TimeSpan.FromMilliseconds(1), client.Time);
            }
            catch (CorfuDeniedException) when (_plan.Has(FaultKind.DeniedWrites))
            {
                _monitor.Mark("append denied");
                await Task.Delay(TimeSpan.FromMilliseconds(1), client.Time);
            }
        }
    }
}
