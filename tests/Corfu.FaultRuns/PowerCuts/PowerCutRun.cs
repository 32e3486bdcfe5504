using System.Collections.Immutable;
using System.Diagnostics;
using Corfu.Client;
using Corfu.FaultRuns.Clients;
using Corfu.FaultRuns.Machine;
using Corfu.FaultRuns.Nodes;
using Corfu.Hosting;
using Corfu.Protocol;
using Corfu.Transport;

namespace Corfu.FaultRuns.PowerCuts;

/// <summary>
/// A unit process and an acceptor in it, on a small ext4 that loses its power under running appends: what was not
/// flushed, names of files too, is gone. No acknowledged entry may be lost, and no entry may be there that no client
/// appended. Without fsync the run must fail, or it proves nothing.
/// </summary>
internal sealed class PowerCutRun(int seed, int cuts, bool withoutSync, TextWriter output)
{
    private const int Writers = 8;
    private const int Sample = 200;

    // Positions that stay above the mark: a few segments' worth.
    private const int Kept = 3000;

    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(20);

    private readonly Random _random = new(seed);
    private readonly Dictionary<long, string> _acknowledged = [];
    private readonly HashSet<string> _begun = [];

    // Positions whose trim was asked for, and those where it was acknowledged; likewise the mark below which all are.
    private readonly HashSet<long> _trimming = [];
    private readonly HashSet<long> _trimmed = [];
    private long _newest;
    private long _markAsked;
    private long _mark;
    private readonly Lock _gate = new();
    private int _number;
    private volatile string _trouble = "";

    public async Task<int> RunAsync(CancellationToken stop)
    {
        var undo = UndoList.New();
        try
        {
            var tools = await Tools.ProbeAsync(undo);
            if (!tools.LoopDisks || (withoutSync && !tools.Strace))
            {
                output.WriteLine($"skipped: {string.Join("; ", tools.Missing)}");
                return 0;
            }

            var rig = new ClusterRig(undo, tools with { Network = false }, new ClusterShape { Units = 1, Replicas = 1 },
                1024);
            await rig.CreateAsync(0, _ => false);
            if (await rig.UpAsync() is { } trouble) throw new RunException(trouble);
            return await CutAsync(rig, stop);
        }
        finally
        {
            undo.Run();
        }
    }

    private async Task<int> CutAsync(ClusterRig rig, CancellationToken stop)
    {
        var clock = Stopwatch.StartNew();
        var unit = rig.Nodes.Single(n => n.IsUnit);
        var lost = 0;
        var done = 0;
        var recent = new List<long>();
        await using var client = await CorfuClient.ConnectAsync(
            rig.Connection,
            new CorfuClientOptions { Tcp = new TcpTransportOptions { RequestTimeout = TimeSpan.FromSeconds(2) } },
            cancellationToken: stop);
        if (withoutSync) await RestartAsync(rig, unit);
        while (done < cuts && lost == 0 && !stop.IsCancellationRequested)
        {
            using var writing = new CancellationTokenSource();
            var writers = Enumerable.Range(0, Writers).Select(_ => WriteAsync(client, recent, writing.Token))
                .Append(TrimAsync(client, writing.Token)).ToArray();
            if (!await AcknowledgedAsync(recent, _random.Next(1, 400)))
            {
                output.WriteLine($"VIOLATION after cut {done} nothing is acknowledged any more: {_trouble}");
                lost++;
            }

            unit.Disk!.CutPower();
            await unit.Process!.KillAsync();
            done++;
            await unit.Disk.UnmountAsync();
            await unit.Disk.MountAsync();
            if (await RestartAsync(rig, unit) is { } refusal)
            {
                output.WriteLine($"VIOLATION after cut {done} the unit does not start: {refusal}");
                lost++;
                break;
            }

            writing.Cancel();
            await Task.WhenAll(writers);
            lost += await VerifyAsync(client, recent, done, stop);
            recent.Clear();
            if (done % 20 == 0)
                output.WriteLine(
                    $"{clock.Elapsed:mm\\:ss}  {done} cuts, {_acknowledged.Count} acknowledged, nothing lost");
            output.Flush();
        }

        var invented = lost > 0 ? 0 : await VerifyAllAsync(client, stop);
        output.WriteLine(
            $"cuts {done} acknowledged {_acknowledged.Count} trimmed {_trimmed.Count} and below {_mark} lost {lost} "
            + $"invented {invented} seconds {clock.Elapsed.TotalSeconds:0}");
        return lost + invented == 0 ? 0 : 1;
    }

    // Cut in the middle of things: when that many appends have been acknowledged since the last cut.
    private async Task<bool> AcknowledgedAsync(List<long> recent, int count)
    {
        var clock = Stopwatch.StartNew();
        while (true)
        {
            lock (_gate)
            {
                if (recent.Count >= count) return true;
                if (clock.Elapsed > s_patience) return recent.Count > 0;
            }

            await Task.Delay(2, CancellationToken.None);
        }
    }

    private async Task<string?> RestartAsync(ClusterRig rig, Node unit)
    {
        if (unit.Process is { HasExited: false }) await unit.Process.KillAsync();

        // Every flush does nothing and says that it succeeded.
        string[] before = withoutSync
            ? ["strace", "-f", "-qq", "-o", "/dev/null", "--seccomp-bpf", "-e", "trace=fdatasync,fsync", "-e",
                "inject=fdatasync,fsync:retval=0"]
            : [];
        unit.Process = rig.Start(unit, before);
        if (await unit.Process.SaysAsync("serving ", TimeSpan.FromSeconds(60))) return null;
        return unit.Process.Output;
    }

    private async Task WriteAsync(CorfuClient client, List<long> recent, CancellationToken stop)
    {
        while (!stop.IsCancellationRequested)
        {
            var id = $"p-{Interlocked.Increment(ref _number)}";
            lock (_gate) _begun.Add(id);
            try
            {
                var result = await client.AppendAsync(EntryText.Make(id), [EntryText.StreamOf(id)], stop);
                if (!result.IsAppended) continue;
                lock (_gate)
                {
                    _acknowledged[result.Position.Offset] = id;
                    _newest = Math.Max(_newest, result.Position.Offset);
                    recent.Add(result.Position.Offset);
                }
            }
            catch (Exception e) when (e is OperationCanceledException or CorfuException)
            {
                // Not acknowledged: it may be there or not.
                _trouble = e.Message;
            }
        }
    }

    // Trims single positions, and a prefix that follows the tail, so that the unit's cleaner has something to do.
    private async Task TrimAsync(CorfuClient client, CancellationToken stop)
    {
        var random = new Random(seed + _number);
        while (!stop.IsCancellationRequested)
        {
            try
            {
                await Task.Delay(random.Next(2, 12), stop);
                var position = Choose(random, out var mark);
                if (position < 0) continue;
                if (mark)
                {
                    await client.TrimPrefixAsync(new LogPosition(position), stop);
                    lock (_gate) _mark = Math.Max(_mark, position);
                }
                else
                {
                    await client.TrimAsync(new LogPosition(position), stop);
                    lock (_gate) _trimmed.Add(position);
                }
            }
            catch (Exception e) when (e is OperationCanceledException or CorfuException)
            {
                // Not acknowledged: it may be trimmed or not.
            }
        }
    }

    private long Choose(Random random, out bool mark)
    {
        lock (_gate)
        {
            mark = random.Next(60) == 0;
            if (_newest < Kept) return -1;
            if (mark) return _markAsked = Math.Max(_markAsked, _newest - Kept);
            var position = _newest - random.Next(Kept);
            if (!_acknowledged.ContainsKey(position)) return -1;
            _trimming.Add(position);
            return position;
        }
    }

    /// <summary>Whether that is what may be found where so much was acknowledged.</summary>
    private bool IsRight(long position, string what)
    {
        lock (_gate)
        {
            if (position < _mark || _trimmed.Contains(position)) return what == "trimmed";
            if (what == "trimmed") return position < _markAsked || _trimming.Contains(position);
            return _acknowledged.TryGetValue(position, out var id) ? what == $"data {id}" : true;
        }
    }

    // The newest acknowledgements, and some of all.
    private async Task<int> VerifyAsync(CorfuClient client, List<long> recent, int cut, CancellationToken stop)
    {
        var positions = recent.Concat(_acknowledged.Keys.OrderBy(_ => _random.Next()).Take(Sample)).Distinct().ToList();
        var lost = 0;
        foreach (var part in positions.Chunk(256))
        {
            ImmutableArray<LogPosition> wanted = [.. part.Select(p => new LogPosition(p))];
            ImmutableArray<LogReadResult> results;
            try
            {
                results = await client.ReadManyAsync(wanted, cancellationToken: stop);
            }
            catch (DataLossException e)
            {
                // The client knows what it was told, and says so.
                output.WriteLine($"VIOLATION after cut {cut}: {e.Message}");
                lost++;
                continue;
            }

            foreach (var result in results)
            {
                var what = WorkClient.Describe(result);
                if (IsRight(result.Position.Offset, what)) continue;
                if (lost++ < 5)
                    output.WriteLine(
                        $"VIOLATION after cut {cut}: {_acknowledged[result.Position.Offset]} was acknowledged at "
                        + $"{result.Position.Offset}, trims {Trims(result.Position.Offset)}, and it holds {what}");
            }
        }

        return lost;
    }

    private string Trims(long position)
    {
        lock (_gate)
            return position < _mark || _trimmed.Contains(position)
                ? "acknowledged"
                : position < _markAsked || _trimming.Contains(position) ? "asked for" : "none";
    }

    private async Task<int> VerifyAllAsync(CorfuClient client, CancellationToken stop)
    {
        var tail = (await client.CheckAsync([], cancellationToken: stop)).Tail.Offset;
        var wrong = 0;
        var seen = new HashSet<string>();
        for (var first = 0L; first < tail; first += 256)
        {
            ImmutableArray<LogPosition> positions = [.. Enumerable.Range(0, (int)Math.Min(256, tail - first))
                .Select(i => new LogPosition(first + i))];
            foreach (var result in await client.ReadManyAsync(positions, cancellationToken: stop))
            {
                var what = WorkClient.Describe(result);
                var id = what.StartsWith("data ", StringComparison.Ordinal) ? what[5..] : null;
                var expected = _acknowledged.GetValueOrDefault(result.Position.Offset);
                if (IsRight(result.Position.Offset, what)
                    && (id is null ? what is "junk" or "trimmed" : _begun.Contains(id) && seen.Add(id))) continue;
                wrong++;
                output.WriteLine(
                    $"VIOLATION at the end {result.Position.Offset} holds {what}; acknowledged there: "
                    + $"{expected ?? "nothing"}");
            }
        }

        return wrong;
    }
}
