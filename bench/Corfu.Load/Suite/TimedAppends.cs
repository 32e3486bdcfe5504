using System.Diagnostics;
using Corfu.Client;
using Corfu.Protocol;
using HdrHistogram;

namespace Corfu.Load.Suite;

/// <summary>Appenders that never stop, counted in intervals of 10 ms around a marked moment.</summary>
internal sealed class TimedAppends : IAsyncDisposable
{
    private const int IntervalMilliseconds = 10;
    private const int ShownBefore = 100;
    private const int ShownAfterResuming = 100;

    // A cluster that does not heal within this time fails the scenario.
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(60);
    private static readonly TimeSpan s_measuredBefore = TimeSpan.FromSeconds(1);

    // Long enough for warm-up, patience and what follows.
    private readonly int[] _counts = new int[12_000];
    private readonly LongHistogram[] _before;
    private readonly CancellationTokenSource _stop = new();
    private readonly CorfuClient _client;
    private readonly long _began = Stopwatch.GetTimestamp();
    private readonly Epoch _epoch;
    private readonly Task _running;
    private long _marked;
    private long _resumed;
    private long _failed;

    public TimedAppends(CorfuClient client, int appenders, int size)
    {
        _client = client;
        _epoch = client.Projection.Epoch;
        _before = [.. Enumerable.Range(0, appenders).Select(_ => Latencies.Create())];
        _running = Task.WhenAll(_before.Select(histogram => Task.Run(() => AppendAsync(histogram, new byte[size]))));
    }

    /// <summary>The fault is now.</summary>
    public void Mark() => Volatile.Write(ref _marked, Stopwatch.GetTimestamp());

    /// <summary>Until entries of a newer epoch are there, and for a second more.</summary>
    public async Task UntilResumedAsync(CancellationToken cancellationToken)
    {
        while (Volatile.Read(ref _resumed) == 0)
        {
            if (Stopwatch.GetElapsedTime(_marked) > s_patience)
                throw new CorfuException($"No append within {s_patience.TotalSeconds:0} s of the fault.");
            await Task.Delay(IntervalMilliseconds, cancellationToken);
        }

        await Task.Delay(IntervalMilliseconds * (ShownAfterResuming + 1), cancellationToken);
    }

    public async Task<(RoundResult Before, Timeline Timeline)> FinishAsync(string fault)
    {
        await _stop.CancelAsync();
        await _running;
        var histogram = Latencies.Create();
        foreach (var one in _before) histogram.Add(one);
        var before = RoundResult.Of(histogram, s_measuredBefore.TotalSeconds, Interlocked.Read(ref _failed));
        var (mark, resumed) = (IntervalOf(_marked), IntervalOf(_resumed));
        var first = Math.Max(0, mark - ShownBefore);
        var shown = _counts[first..Math.Min(_counts.Length, resumed + ShownAfterResuming)];
        // The measured operations are those that ended in the second before the mark, not all that the histograms have.
        var operations = _counts[Math.Max(0, mark - ShownBefore)..mark].Sum();
        return (before with { Operations = operations },
            new Timeline(fault, IntervalMilliseconds, mark - first, LongestGap(shown[(mark - first)..]), shown));
    }

    public async ValueTask DisposeAsync()
    {
        await _stop.CancelAsync();
        await _running;
        _stop.Dispose();
    }

    /// <summary>Milliseconds of the longest run of intervals without anything.</summary>
    public static double LongestGap(IReadOnlyList<int> counts)
    {
        var (longest, current) = (0, 0);
        foreach (var count in counts) longest = Math.Max(longest, current = count == 0 ? current + 1 : 0);
        return longest * IntervalMilliseconds;
    }

    private int IntervalOf(long timestamp) =>
        (int)(Stopwatch.GetElapsedTime(_began, timestamp).TotalMilliseconds / IntervalMilliseconds);

    private async Task AppendAsync(LongHistogram histogram, byte[] payload)
    {
        while (!_stop.IsCancellationRequested)
        {
            try
            {
                var asked = Stopwatch.GetTimestamp();
                var result = await _client.AppendAsync(payload, []);
                if (!result.IsAppended) continue;
                var ended = Stopwatch.GetTimestamp();
                var interval = IntervalOf(ended);
                if (interval < _counts.Length) Interlocked.Increment(ref _counts[interval]);
                if (Volatile.Read(ref _marked) == 0) histogram.RecordSince(asked);
                else if (result.Position.Epoch > _epoch) Interlocked.CompareExchange(ref _resumed, ended, 0);
            }
            catch (CorfuException)
            {
                Interlocked.Increment(ref _failed);
            }
        }
    }
}
