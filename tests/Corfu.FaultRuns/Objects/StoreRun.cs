using System.Diagnostics;
using Corfu.FaultRuns.Faults;
using Corfu.FaultRuns.Machine;
using Corfu.FaultRuns.Nodes;
using Corfu.FaultRuns.Objects.Faults;
using Corfu.FaultRuns.Objects.Judging;
using Corfu.FaultRuns.Objects.Nodes;
using Corfu.Hosting;

namespace Corfu.FaultRuns.Objects;

/// <summary>CRAQ nodes as processes under faults, with clients that write, read in all modes and run transactions; then
/// everything is read back, and the histories are judged.</summary>
internal sealed class StoreRun(int seed, TimeSpan length, IReadOnlyList<StoreFault> only, TextWriter output)
{
    private const int Nodes = 5;
    private const int Replicas = 3;
    private const int Clients = 3;
    private const int MaxTold = 10;

    private static readonly TimeSpan s_startPatience = TimeSpan.FromSeconds(90);
    private static readonly TimeSpan s_healBound = TimeSpan.FromSeconds(60);
    private static readonly TimeSpan s_wholeBound = TimeSpan.FromSeconds(90);
    private static readonly TimeSpan s_tellEvery = TimeSpan.FromSeconds(5);

    private readonly Dictionary<StoreFault, (int Count, TimeSpan Slowest)> _done = [];
    private readonly List<string> _failures = [];
    private readonly Stopwatch _clock = new();
    private string _now = "no fault";

    public async Task<int> RunAsync(CancellationToken stop)
    {
        var undo = UndoList.New();
        try
        {
            var tools = await Tools.ProbeNamespacesAsync();
            output.WriteLine($"craq: seed {seed}, {length.TotalSeconds:0} s, data in {undo.Folder}");
            foreach (var missing in tools.Missing) output.WriteLine($"skipped  {missing}");
            var log = new ClusterRig(undo, tools, new ClusterShape(), 0);
            await log.CreateAsync(2, _ => false);
            if (await log.UpAsync() is { } trouble) throw new RunException(trouble);
            var rig = new StoreRig(undo, log, Nodes, Replicas);
            await rig.CreateAsync();
            output.WriteLine($"nodes {rig.Connection}, log {log.Connection}");
            var clients = new ClientPool(undo, log, Clients, seed, _ => ["craq-client", "--nodes", rig.Connection]);
            clients.Start();
            if (!await FaultLoop.WaitAsync(() => clients.AllSince(0), s_startPatience, stop))
                throw new RunException($"The clients do not start: {clients.Describe()}\n{await rig.StatusAsync()}");
            await InjectAsync(rig, clients, new StoreNemesis(rig, tools.Network), stop);
            return await JudgeAsync(undo, rig, clients, stop);
        }
        finally
        {
            undo.Run();
        }
    }

    private async Task InjectAsync(StoreRig rig, ClientPool clients, StoreNemesis nemesis, CancellationToken stop)
    {
        _clock.Start();
        using var ended = CancellationTokenSource.CreateLinkedTokenSource(stop);
        var telling = TellAsync(rig, clients, ended.Token);
        var kinds = only.Count > 0 ? [.. nemesis.Kinds.Intersect(only)] : nemesis.Kinds;
        if (kinds.Count == 0) throw new RunException($"This machine allows none of {string.Join(", ", only)}.");
        foreach (var fault in PlannedFault.Plan(seed, Nodes, kinds))
        {
            if (_clock.Elapsed >= length || _failures.Count > 0 || stop.IsCancellationRequested) break;
            await RunOneAsync(rig, clients, nemesis, fault, stop);
        }

        await ended.CancelAsync();
        await telling;
    }

    private async Task RunOneAsync(
        StoreRig rig, ClientPool clients, StoreNemesis nemesis, PlannedFault fault, CancellationToken stop)
    {
        var before = StoreWatch.EpochsOf(rig.State);
        var (what, heal) = await nemesis.InjectAsync(fault);
        _now = what;
        await Task.Delay(fault.Hold, CancellationToken.None);
        await heal();
        _now = $"healed: {what}";
        var healed = Stopwatch.GetTimestamp();
        var trouble = await rig.UpAsync();
        var goesOn = trouble is null && await FaultLoop.WaitAsync(() => clients.AllSince(healed), s_healBound, stop);
        var took = Stopwatch.GetElapsedTime(healed);
        var isWhole = !goesOn || !fault.AwaitsWhole
            || await FaultLoop.WaitAsync(() => StoreWatch.IsWhole(rig.State), s_wholeBound, stop);
        var whole = fault.AwaitsWhole && isWhole
            ? $"whole after {Stopwatch.GetElapsedTime(healed).TotalSeconds:0.0} s"
            : "whole or not";
        output.WriteLine($"{_clock.Elapsed:mm\\:ss}  {fault.Kind,-18} {fault.Hold.TotalSeconds,4:0.0} s  all went on "
            + $"{took.TotalSeconds,4:0.0} s after it, {whole}, epochs +{StoreWatch.EpochsOf(rig.State) - before}  "
            + what);
        _now = "no fault";
        var known = _done.GetValueOrDefault(fault.Kind);
        _done[fault.Kind] = (known.Count + 1, took > known.Slowest ? took : known.Slowest);
        if (stop.IsCancellationRequested || (goesOn && isWhole)) return;
        _failures.Add(trouble ?? (goesOn
            ? $"not all chains are whole {s_wholeBound.TotalSeconds:0} s after the heal of: {what}: {rig.State}"
            : $"not everything had gone on {s_healBound.TotalSeconds:0} s after the heal of: {what}: "
                + clients.Describe()));
        output.WriteLine(await rig.StatusAsync());
    }

    private async Task TellAsync(StoreRig rig, ClientPool clients, CancellationToken stop)
    {
        while (!stop.IsCancellationRequested)
        {
            output.WriteLine($"{_clock.Elapsed:mm\\:ss}  {Counts(clients)}; {_now}; {rig.State}");
            output.Flush();
            await FaultLoop.WaitAsync(() => false, s_tellEvery, stop);
        }
    }

    private static string Counts(ClientPool clients)
    {
        var sums = new long[4];
        foreach (var line in clients.All.Select(child => child.Last("counts ")).OfType<string>())
        {
            var words = line.Split(' ');
            for (var i = 0; i < sums.Length; i++) sums[i] += long.Parse(words[i + 1]);
        }

        return $"{sums[0]} writes, {sums[1]} reads, {sums[2]} unknown, {sums[3]} refused";
    }

    private async Task<int> JudgeAsync(UndoList undo, StoreRig rig, ClientPool clients, CancellationToken stop)
    {
        if (await clients.StopAsync(TimeSpan.FromSeconds(60)) is { } hangs) _failures.Add(hangs);
        if (await rig.UpAsync() is { } trouble) _failures.Add(trouble);
        var clock = Stopwatch.StartNew();
        if (!await FaultLoop.WaitAsync(() => StoreWatch.IsWhole(rig.State), s_wholeBound, stop))
            _failures.Add(
                $"not all chains are whole {s_wholeBound.TotalSeconds:0} s after the last fault: {rig.State}");
        else output.WriteLine($"all chains whole after {clock.Elapsed.TotalSeconds:0.0} s: {rig.State}");
        var history = new StoreHistory();
        history.Load(clients.Histories, await AuditAsync(undo, rig, clients));
        _failures.AddRange(history.Unexpected.Select(text => $"unexpected at a client: {text}"));
        var verdict = StoreVerdict.Of(history);
        if (_done.Count == 0) _failures.Add("no fault has come");
        if (history.Writes == 0) _failures.Add("nothing was written");
        if (history.Reads == 0) _failures.Add("nothing was read");

        output.WriteLine();
        foreach (var (kind, (count, slowest)) in _done.OrderBy(one => one.Key))
            output.WriteLine(
                $"{kind,-18} {count,3} times, all went on within {slowest.TotalSeconds:0.0} s of the heal");
        output.WriteLine(Modes(history));
        foreach (var line in verdict.Told(MaxTold)) output.WriteLine(line);
        foreach (var failure in _failures.Take(MaxTold)) output.WriteLine($"FAILED {failure}");
        if (_failures.Count > 0 || !verdict.IsGood) await KeepAsync(undo, rig, clients);
        output.WriteLine($"craq writes={history.Writes} reads={history.Reads} {verdict}");
        return _failures.Count == 0 && verdict.IsGood ? 0 : 1;
    }

    private async Task<string?> AuditAsync(UndoList undo, StoreRig rig, ClientPool clients)
    {
        var written = new StoreHistory();
        written.Load(clients.Histories, null);
        var (objects, file) = (Path.Combine(undo.Folder, "objects"), Path.Combine(clients.Folder, "audit"));
        await File.WriteAllLinesAsync(objects, written.Written().Order().Select(one => $"{one.Chain}\t{one.Key}"));
        var audit = Child.Start(undo, rig.Log.NamespaceOf("clients-0"), "Corfu.FaultRuns", [], "dotnet",
            ClusterRig.Self, "craq-audit", "--nodes", rig.Connection, "--objects", objects, "--file", file);
        if (!await audit.EndsAsync(TimeSpan.FromMinutes(5)) || audit.Last("audited True") is null)
            _failures.Add($"the final reads did not come to their end: {audit.Output}");
        return File.Exists(file) ? file : null;
    }

    private static string Modes(StoreHistory history) => string.Join(", ", history.Calls
        .CountBy(call => $"{call.Fate} {(call.Mode == ObjectMode.Mutate && !call.Writes ? "Snapshot" : call.Mode)}")
        .Concat(history.Transactions.CountBy(one => $"{one.Fate} Transaction"))
        .OrderBy(one => one.Key, StringComparer.Ordinal).Select(one => $"{one.Value} {one.Key}"));

    private async Task KeepAsync(UndoList undo, StoreRig rig, ClientPool clients)
    {
        var kept = Path.Combine(Path.GetTempPath(), $"corfu-craq-run-{seed}-failed");
        await Shell.LineAsync($"mkdir -p {kept} && cp -r {clients.Folder} {kept}/ ; for n in {rig.Folder}/*/ "
            + $"{undo.Folder}/cluster/*/; do cp $n/*.log {kept}/$(basename $n).log; done");
        output.WriteLine($"histories and node logs: {kept}");
    }
}
