using System.Diagnostics;
using Corfu.FaultRuns.Faults;
using Corfu.FaultRuns.Machine;
using Corfu.FaultRuns.Nodes;
using Corfu.FaultRuns.ZooKeeper.Faults;
using Corfu.FaultRuns.ZooKeeper.Judging;
using Corfu.FaultRuns.ZooKeeper.Nodes;
using Corfu.FaultRuns.ZooKeeper.Workers;
using Corfu.Hosting;

namespace Corfu.FaultRuns.ZooKeeper;

/// <summary>Three front ends of one tree and the processes of its log under faults, with 50 sessions that count, lock,
/// queue, watch and leave ephemeral nodes; then their histories are judged.</summary>
internal sealed class ZooKeeperRun(
    int seed, TimeSpan length, IReadOnlyList<ZooFaultKind> only, TextWriter output)
{
    private const int FrontEndCount = 3;
    private const int MaxTold = 5;

    private static readonly TimeSpan s_healBound = TimeSpan.FromSeconds(60);
    private static readonly TimeSpan s_endBound = TimeSpan.FromSeconds(60);

    private readonly Dictionary<ZooFaultKind, (int Count, TimeSpan Slowest)> _done = [];
    private readonly List<string> _failures = [];
    private readonly Stopwatch _clock = new();

    public async Task<int> RunAsync(CancellationToken stop)
    {
        var undo = UndoList.New();
        try
        {
            output.WriteLine($"zookeeper: seed {seed}, {length.TotalSeconds:0} s, data in {undo.Folder}");
            var log = new ClusterRig(undo, new Tools(false, false, false, []), new ClusterShape(), 0);
            await log.CreateAsync(0, _ => false);
            var frontEnds = new FrontEnds(undo, log, FrontEndCount);
            if ((await log.UpAsync() ?? await frontEnds.UpAsync()) is { } trouble) throw new RunException(trouble);
            var clients = new ZooClients(frontEnds.Ports);
            await Surveyor.PrepareAsync(clients);
            using var working = new CancellationTokenSource();
            var workers = Workers(clients);
            var running = workers.Select(worker => worker.RunAsync(working.Token)).ToList();
            await InjectAsync(log, frontEnds, workers, stop);
            await working.CancelAsync();
            await EndAsync(workers, running, frontEnds);
            return Judge(clients, await Surveyor.AuditAsync(clients), frontEnds);
        }
        finally
        {
            undo.Run();
        }
    }

    private List<ZooWorker> Workers(ZooClients clients)
    {
        var random = new Random(seed);
        return
        [
            .. Make(10, place => new FifoWorker(clients, $"fifo{place}", random.Next())),
            .. Make(10, place => new CounterWorker(clients, $"counter{place}", random.Next())),
            .. Make(9, place => new LockWorker(clients, $"lock{place}", random.Next())),
            .. Make(9, place => new QueueWorker(clients, $"queue{place}", random.Next())),
            .. Make(6, place => new WatchWorker(clients, $"watch{place}", random.Next())),
            .. Make(6, place => new EphemeralWorker(clients, $"ephemeral{place}", random.Next())),
        ];
    }

    private static IEnumerable<ZooWorker> Make(int count, Func<int, ZooWorker> make) =>
        Enumerable.Range(1, count).Select(make);

    private async Task InjectAsync(
        ClusterRig log, FrontEnds frontEnds, IReadOnlyList<ZooWorker> workers, CancellationToken stop)
    {
        _clock.Start();
        var nemesis = new ZooNemesis(log, frontEnds);
        var kinds = only.Count > 0 ? only : Enum.GetValues<ZooFaultKind>();
        foreach (var fault in ZooFault.Plan(seed, kinds))
        {
            if (_clock.Elapsed >= length || _failures.Count > 0 || stop.IsCancellationRequested) break;
            var (what, heal) = await nemesis.InjectAsync(fault);
            await Task.Delay(fault.Hold, CancellationToken.None);
            await heal();
            var healed = Stopwatch.GetTimestamp();
            var trouble = await log.UpAsync() ?? await frontEnds.UpAsync();
            var goesOn = trouble is null && await FaultLoop.WaitAsync(
                () => workers.All(worker => worker.GoesOnSince(healed)), s_healBound, stop);
            var took = Stopwatch.GetElapsedTime(healed);
            output.WriteLine($"{_clock.Elapsed:mm\\:ss}  {fault.Kind,-14} {fault.Hold.TotalSeconds,4:0.0} s  all "
                + $"went on {took.TotalSeconds,4:0.0} s after it  {what}");
            output.Flush();
            var known = _done.GetValueOrDefault(fault.Kind);
            _done[fault.Kind] = (known.Count + 1, took > known.Slowest ? took : known.Slowest);
            if (goesOn || stop.IsCancellationRequested) continue;
            var idle = workers.Where(worker => !worker.GoesOnSince(healed)).Select(worker => worker.Name);
            _failures.Add(trouble ?? $"{string.Join(", ", idle)} had not gone on {s_healBound.TotalSeconds:0} s after "
                + $"the heal of: {what}\n{frontEnds.Describe()}\n{await log.StatusAsync()}");
        }
    }

    private async Task EndAsync(IReadOnlyList<ZooWorker> workers, List<Task> running, FrontEnds frontEnds)
    {
        var ending = Task.WhenAll(workers.Zip(running, async (worker, work) =>
        {
            await work;
            await worker.EndAsync();
        }));
        if (await Task.WhenAny(ending, Task.Delay(s_endBound)) != ending)
            throw new RunException($"Not all sessions end.\n{frontEnds.Describe()}");
        await ending;
    }

    private int Judge(ZooClients clients, ZooAudit audit, FrontEnds frontEnds)
    {
        var verdict = ZooVerdict.Of(clients.Lives, audit);
        if (_done.Count == 0) _failures.Add("no fault has come");
        if (verdict.Expired == 0) _failures.Add("no session has expired");
        if (verdict.Events == 0) _failures.Add("no event has come");
        output.WriteLine();
        foreach (var (kind, (count, slowest)) in _done.OrderBy(one => one.Key))
            output.WriteLine($"{kind,-14} {count,3} times, went on within {slowest.TotalSeconds:0.0} s of the heal");
        output.WriteLine($"{clients.Lives.Count} sessions, {verdict.Events} events");
        foreach (var line in verdict.Told(MaxTold)) output.WriteLine(line);
        foreach (var failure in _failures) output.WriteLine($"FAILED {failure}");
        if (!verdict.IsGood) output.WriteLine(frontEnds.Describe());
        output.WriteLine($"zookeeper {verdict}");
        return _failures.Count == 0 && verdict.IsGood ? 0 : 1;
    }
}
