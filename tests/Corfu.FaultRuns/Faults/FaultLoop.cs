using System.Diagnostics;
using Corfu.FaultRuns.Nodes;

namespace Corfu.FaultRuns.Faults;

/// <summary>Injects one fault after another. Each is held for a while and healed; every client must recover within a
/// bound.</summary>
internal sealed class FaultLoop(
    ClusterRig rig, ClientPool clients, Nemesis nemesis, IReadOnlyList<FaultKind> kinds, Random random,
    TextWriter output)
{
    private static readonly TimeSpan s_healBound = TimeSpan.FromSeconds(90);

    private readonly Dictionary<FaultKind, (int Count, TimeSpan Slowest)> _done = [];
    private readonly List<string> _failures = [];
    private readonly Stopwatch _clock = Stopwatch.StartNew();

    public TimeSpan Elapsed => _clock.Elapsed;

    public IReadOnlyList<string> Failures => _failures;

    public int Count => _done.Sum(d => d.Value.Count);

    /// <summary>Kinds that have not come yet.</summary>
    public bool HasMissing => kinds.Any(kind => !_done.ContainsKey(kind));

    /// <summary>Until it is told to end, or something does not recover.</summary>
    public async Task RunAsync(Func<bool> isDone, CancellationToken stop)
    {
        var queue = new Queue<FaultKind>();
        while (!isDone() && _failures.Count == 0 && !stop.IsCancellationRequested)
        {
            // Each kind once in every round, in another order each time.
            if (queue.Count == 0) queue = new Queue<FaultKind>(kinds.OrderBy(_ => random.Next()));
            await RunOneAsync(queue.Dequeue(), stop);
        }
    }

    public void Tell()
    {
        foreach (var (kind, (count, slowest)) in _done.OrderBy(d => d.Key))
            output.WriteLine(
                $"{kind,-18} {count,4} times, all went on within {slowest.TotalSeconds:0.0} s of the heal");
    }

    public static async Task<bool> WaitAsync(Func<bool> condition, TimeSpan patience, CancellationToken stop)
    {
        var clock = Stopwatch.StartNew();
        while (!condition())
        {
            if (clock.Elapsed > patience || stop.IsCancellationRequested) return false;
            await Task.Delay(100, CancellationToken.None);
        }

        return true;
    }

    private async Task RunOneAsync(FaultKind kind, CancellationToken stop)
    {
        // Some are over before an agent has made up its mind, some outlast its work.
        var hold = TimeSpan.FromMilliseconds(random.Next(3) == 0 ? random.Next(6000, 15_000) : random.Next(500, 6000));
        var (what, heal) = await nemesis.InjectAsync(kind);
        await Task.Delay(hold, CancellationToken.None);
        await heal();
        var healed = Stopwatch.GetTimestamp();
        var trouble = await rig.UpAsync();
        var recovered = trouble is null && await WaitAsync(() => clients.AllSince(healed), s_healBound, stop);
        var took = Stopwatch.GetElapsedTime(healed);
        output.WriteLine(
            $"{_clock.Elapsed:mm\\:ss}  {kind,-18} {hold.TotalSeconds,4:0.0} s  recovered in "
            + $"{took.TotalSeconds,5:0.0} s  {what}");
        output.Flush();
        var known = _done.GetValueOrDefault(kind);
        _done[kind] = (known.Count + 1, took > known.Slowest ? took : known.Slowest);
        if (recovered || stop.IsCancellationRequested) return;
        _failures.Add(
            trouble ?? $"not everything had gone on {s_healBound.TotalSeconds:0} s after the heal: "
            + clients.Describe());
        output.WriteLine(await rig.StatusAsync());
    }
}
