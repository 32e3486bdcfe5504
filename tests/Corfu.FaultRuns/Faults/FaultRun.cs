using System.Diagnostics;
using System.Text.RegularExpressions;
using Corfu.FaultRuns.Checks;
using Corfu.FaultRuns.Machine;
using Corfu.FaultRuns.Nodes;
using Corfu.Hosting;

namespace Corfu.FaultRuns.Faults;

/// <summary>The fault run: a cluster and its clients, fault after fault, each healed within a bound; then the histories
/// are checked.</summary>
internal sealed partial class FaultRun(int seed, TimeSpan length, IReadOnlyList<FaultKind> only, bool automatic,
    TextWriter output)
{
    private static readonly TimeSpan StartPatience = TimeSpan.FromSeconds(90);

    private const int MaxReasons = 12;

    private readonly Random _random = new(seed);
    private readonly List<string> _failures = [];
    private readonly Stopwatch _clock = Stopwatch.StartNew();

    public async Task<int> RunAsync(CancellationToken stop)
    {
        var undo = UndoList.New();
        try
        {
            var tools = await Tools.ProbeAsync(undo);
            output.WriteLine(
                $"fault run: seed {seed}, {length.TotalMinutes:0.#} minutes, agents {(automatic ? "on" : "off")}, "
                + $"data in {undo.Folder}");
            foreach (var missing in tools.Missing) output.WriteLine($"skipped  {missing}");
            var rig = new ClusterRig(undo, tools,
                new ClusterShape
                {
                    Units = 3,
                    Replicas = 2,
                    Spares = automatic ? 2 : 0,
                    Sequencers = automatic ? 2 : 1,
                    Automatic = automatic
                }, 1024);
            await rig.CreateAsync(2, _ => _random.Next(2) == 0);
            if (await rig.UpAsync() is { } trouble) throw new RunException(trouble);
            output.WriteLine(
                $"cluster {rig.Connection}; behind a proxy: "
                + $"{string.Join(", ", rig.Nodes.Where(n => n.Proxy is not null).Select(n => n.Name))}");
            var clients = new ClientPool(undo, rig, 3, seed, _ => ["client"]);
            clients.Start();
            if (!await FaultLoop.WaitAsync(() => clients.AllSince(0), StartPatience, stop))
                throw new RunException($"The clients do not start: {clients.Describe()}");
            var nemesis = new Nemesis(rig, clients, tools, _random);
            var kinds = only.Count > 0 ? [.. nemesis.Kinds.Intersect(only)] : nemesis.Kinds.ToList();
            var loop = new FaultLoop(rig, clients, nemesis, kinds, _random, output);
            await loop.RunAsync(() => _clock.Elapsed >= length, stop);
            return await JudgeAsync(undo, rig, clients, tools, loop);
        }
        finally
        {
            undo.Run();
        }
    }

    // Prints the agents' changes, with their reasons, in a few lines.
    private async Task TellHistoryAsync(ClusterRig rig)
    {
        var reasons = await rig.HistoryAsync();
        if (reasons is null)
        {
            output.WriteLine("the layout's history cannot be read");
            return;
        }

        output.WriteLine($"epochs {reasons.Count}; why:");
        var kinds = reasons.GroupBy(r => Names().Replace(r.Split(" (")[0], "*")).OrderByDescending(g => g.Count())
            .ToList();
        foreach (var kind in kinds.Take(MaxReasons)) output.WriteLine($"{kind.Count(),6}  {kind.Key}");
        if (kinds.Count > MaxReasons)
            output.WriteLine($"{kinds.Skip(MaxReasons).Sum(k => k.Count()),6}  for other reasons");
    }

    [GeneratedRegex(@"[0-9a-f]{8}-[0-9a-f-]{27}|\b[0-9a-f]{6,}\b|\d+(\.\d+)*(:\d+)?")]
    private static partial Regex Names();

    private async Task<int> JudgeAsync(UndoList undo, ClusterRig rig, ClientPool clients, Tools tools,
        FaultLoop loop)
    {
        _failures.AddRange(loop.Failures);
        if (await clients.StopAsync(TimeSpan.FromSeconds(60)) is { } hangs) _failures.Add(hangs);
        var check = new HistoryCheck();
        var file = Path.Combine(undo.Folder, "audit");
        var audit = Child.Start(undo, rig.NamespaceOf("clients-0"), "Corfu.FaultRuns", [], "dotnet", ClusterRig.Self,
            "audit", "--connect", rig.Connection, "--file", file);
        if (!await audit.EndsAsync(TimeSpan.FromMinutes(5)) || !File.Exists(file))
            _failures.Add($"the audit failed: {audit.Output}");
        if (File.Exists(file))
        {
            check.Load(clients.Histories, file);
            check.Check();
        }

        output.WriteLine();
        loop.Tell();
        await TellHistoryAsync(rig);
        foreach (var missing in tools.Missing) output.WriteLine($"skipped  {missing}");
        output.WriteLine(check.Summary);
        foreach (var violation in check.Told) output.WriteLine($"VIOLATION {violation}");
        foreach (var failure in _failures) output.WriteLine($"FAILED {failure}");
        var bad = check.Violations + _failures.Count;
        if (bad > 0) await KeepAsync(undo);
        output.WriteLine($"faults {loop.Count} minutes {_clock.Elapsed.TotalMinutes:0.0} violations {bad}");
        return bad == 0 ? 0 : 1;
    }

    // Keeps the files that explain a failure after the run.
    private async Task KeepAsync(UndoList undo)
    {
        var kept = Path.Combine(Path.GetTempPath(), $"corfu-fault-run-{seed}-failed");
        await Shell.LineAsync(
            $"mkdir -p {kept} && cp -r {undo.Folder}/histories {undo.Folder}/audit {kept}/ ; for f in "
            + $"{undo.Folder}/cluster/*/*.log; do cp $f {kept}/; done");
        output.WriteLine($"histories and node logs: {kept}");
    }
}
