using System.Diagnostics;
using Corfu.FaultRuns.Faults;
using Corfu.FaultRuns.Machine;
using Corfu.FaultRuns.Nodes;
using Corfu.FaultRuns.Volumes.Faults;
using Corfu.FaultRuns.Volumes.Judging;
using Corfu.FaultRuns.Volumes.Nodes;
using Corfu.Hosting;

namespace Corfu.FaultRuns.Volumes;

/// <summary>Salus nodes as processes under faults, with a volume that is written and read, taken over and in the end
/// read whole; then the histories of all mounts are judged.</summary>
internal sealed class VolumeRun(int seed, TimeSpan length, IReadOnlyList<VolumeFaultKind> only, TextWriter output)
{
    private const int Nodes = 5;
    private const int MaxTold = 10;

    private static readonly TimeSpan s_startPatience = TimeSpan.FromSeconds(90);
    private static readonly TimeSpan s_healBound = TimeSpan.FromSeconds(60);
    private static readonly TimeSpan s_wholeBound = TimeSpan.FromSeconds(90);
    private static readonly TimeSpan s_tellEvery = TimeSpan.FromSeconds(5);

    private readonly Dictionary<VolumeFaultKind, (int Count, TimeSpan Slowest)> _done = [];
    private readonly List<string> _failures = [];
    private readonly Stopwatch _clock = new();
    private string _now = "no fault";

    public async Task<int> RunAsync(CancellationToken stop)
    {
        var undo = UndoList.New();
        try
        {
            var tools = await Tools.ProbeNamespacesAsync();
            output.WriteLine($"salus: seed {seed}, {length.TotalSeconds:0} s, data in {undo.Folder}");
            foreach (var missing in tools.Missing) output.WriteLine($"skipped  {missing}");
            var log = new ClusterRig(undo, tools, new ClusterShape(), 0);
            await log.CreateAsync(2, _ => false);
            if (await log.UpAsync() is { } trouble) throw new RunException(trouble);
            var rig = new VolumeRig(undo, log, Nodes);
            await rig.CreateAsync();
            output.WriteLine($"nodes {string.Join(", ", rig.Nodes.Select(node => node.Name))}, log {log.Connection}");
            var writer = new WriterSeat(undo, rig, seed);
            writer.Up();
            if (!await FaultLoop.WaitAsync(() => writer.GoesOnSince(0), s_startPatience, stop))
                throw new RunException($"The writer does not start: {writer.Describe()}\n{await rig.StatusAsync()}");
            var begun = VolumeWatch.GenerationsOf(rig.State);
            await InjectAsync(rig, writer, new VolumeNemesis(rig, writer, tools.Network), stop);
            return await JudgeAsync(undo, rig, writer, begun, stop);
        }
        finally
        {
            undo.Run();
        }
    }

    private async Task InjectAsync(VolumeRig rig, WriterSeat writer, VolumeNemesis nemesis, CancellationToken stop)
    {
        _clock.Start();
        using var ended = CancellationTokenSource.CreateLinkedTokenSource(stop);
        var telling = TellAsync(rig, writer, ended.Token);
        var kinds = only.Count > 0 ? [.. nemesis.Kinds.Intersect(only)] : nemesis.Kinds;
        if (kinds.Count == 0) throw new RunException($"This machine allows none of {string.Join(", ", only)}.");
        foreach (var fault in PlannedVolumeFault.Plan(seed, Nodes, kinds))
        {
            if (_clock.Elapsed >= length || _failures.Count > 0 || stop.IsCancellationRequested) break;
            await RunOneAsync(rig, writer, nemesis, fault, stop);
        }

        await ended.CancelAsync();
        await telling;
    }

    private async Task RunOneAsync(VolumeRig rig, WriterSeat writer, VolumeNemesis nemesis, PlannedVolumeFault fault,
        CancellationToken stop)
    {
        var before = VolumeWatch.GenerationsOf(rig.State);
        var (what, heal) = await nemesis.InjectAsync(fault);
        _now = what;
        await Task.Delay(fault.Hold, CancellationToken.None);
        await heal();
        _now = $"healed: {what}";
        var healed = Stopwatch.GetTimestamp();
        var trouble = await rig.UpAsync();
        var goesOn = trouble is null && await FaultLoop.WaitAsync(() => GoesOn(writer, healed), s_healBound, stop);
        var took = Stopwatch.GetElapsedTime(healed);
        // Faults come one after the other: two at once may damage more copies than a region bears.
        var isWhole = !goesOn
            || await FaultLoop.WaitAsync(() => VolumeWatch.IsWhole(rig.State), s_wholeBound, stop);
        output.WriteLine($"{_clock.Elapsed:mm\\:ss}  {fault.Kind,-22} {fault.Hold.TotalSeconds,4:0.0} s  went on "
            + $"{took.TotalSeconds,4:0.0} s after it, whole after "
            + $"{Stopwatch.GetElapsedTime(healed).TotalSeconds:0.0} s, generations "
            + $"+{VolumeWatch.GenerationsOf(rig.State) - before}  {what}");
        _now = "no fault";
        var known = _done.GetValueOrDefault(fault.Kind);
        _done[fault.Kind] = (known.Count + 1, took > known.Slowest ? took : known.Slowest);
        if (stop.IsCancellationRequested || (goesOn && isWhole)) return;
        _failures.Add(trouble ?? (goesOn
            ? $"not all regions are whole {s_wholeBound.TotalSeconds:0} s after the heal of: {what}: {rig.State}"
            : $"the volume had not gone on {s_healBound.TotalSeconds:0} s after the heal of: {what}: "
                + writer.Describe()));
        output.WriteLine(await rig.StatusAsync());
    }

    // A writer whose mount was lost has ended: another one takes over.
    private static bool GoesOn(WriterSeat writer, long moment)
    {
        writer.Up();
        return writer.GoesOnSince(moment);
    }

    private async Task TellAsync(VolumeRig rig, WriterSeat writer, CancellationToken stop)
    {
        while (!stop.IsCancellationRequested)
        {
            output.WriteLine($"{_clock.Elapsed:mm\\:ss}  {writer.Counts()}; {_now}; {rig.State}");
            output.Flush();
            await FaultLoop.WaitAsync(() => false, s_tellEvery, stop);
        }
    }

    private async Task<int> JudgeAsync(
        UndoList undo, VolumeRig rig, WriterSeat writer, long begun, CancellationToken stop)
    {
        if (await rig.UpAsync() is { } trouble) _failures.Add(trouble);
        if (!await FaultLoop.WaitAsync(() => VolumeWatch.IsWhole(rig.State), s_wholeBound, stop))
            _failures.Add(
                $"not all regions are whole {s_wholeBound.TotalSeconds:0} s after the last fault: {rig.State}");
        var recovered = VolumeWatch.GenerationsOf(rig.State) - begun;
        if (await writer.AuditAsync(TimeSpan.FromMinutes(2)) is { } silence) _failures.Add(silence);
        List<VolumeLife> lives =
            [.. writer.Histories.Where(File.Exists).Select(file => VolumeLife.Of(File.ReadAllText(file)))];
        _failures.AddRange(lives.SelectMany(life => life.Unexpected));
        var verdict = VolumeVerdict.Of(lives);
        if (_done.Count == 0) _failures.Add("no fault has come");
        if (verdict.Puts == 0) _failures.Add("nothing was written");
        if (verdict.Gets == 0) _failures.Add("nothing was read");

        output.WriteLine();
        foreach (var (kind, (count, slowest)) in _done.OrderBy(one => one.Key))
            output.WriteLine(
                $"{kind,-22} {count,3} times, went on within {slowest.TotalSeconds:0.0} s of the heal");
        output.WriteLine($"{lives.Count} mounts");
        foreach (var line in verdict.Told(MaxTold)) output.WriteLine(line);
        foreach (var failure in _failures.Take(MaxTold)) output.WriteLine($"FAILED {failure}");
        if (_failures.Count > 0 || !verdict.IsGood) await KeepAsync(undo, rig, writer);
        output.WriteLine($"salus puts={verdict.Puts} gets={verdict.Gets} {verdict} recovered={recovered}");
        return _failures.Count == 0 && verdict.IsGood ? 0 : 1;
    }

    private async Task KeepAsync(UndoList undo, VolumeRig rig, WriterSeat writer)
    {
        var kept = Path.Combine(Path.GetTempPath(), $"corfu-salus-run-{seed}-failed");
        await Shell.LineAsync($"mkdir -p {kept} && cp -r {writer.Folder} {kept}/ ; for n in {rig.Folder}/*/ "
            + $"{undo.Folder}/cluster/*/; do cp $n/*.log {kept}/$(basename $n).log; done");
        output.WriteLine($"histories and node logs: {kept}");
    }
}
