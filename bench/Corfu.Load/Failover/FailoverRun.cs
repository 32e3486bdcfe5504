using Corfu.Client;

namespace Corfu.Load;

/// <summary>Appenders that never stop, and when each of them got its first position of a newer epoch.</summary>
internal sealed class FailoverRun(CorfuClient client, int appenders, int streams)
{
    private readonly CancellationTokenSource _stop = new();
    private readonly List<(Epoch Epoch, DateTimeOffset At)>[] _firsts =
        [.. Enumerable.Range(0, appenders).Select(_ => new List<(Epoch, DateTimeOffset)>())];
    private Task _running = Task.CompletedTask;
    private long _appended;
    private long _failed;
    private long _unknown;

    public long Appended => Interlocked.Read(ref _appended);

    public long Failed => Interlocked.Read(ref _failed);

    public long Unknown => Interlocked.Read(ref _unknown);

    public async Task WarmUpAsync(TimeSpan time)
    {
        _running = Task.WhenAll(Enumerable.Range(0, appenders).Select(i => Task.Run(() => AppendAsync(i))));
        await Task.Delay(time);
    }

    /// <summary>Until every appender has a position of a newer epoch, and a while longer.</summary>
    public async Task HealAsync(Epoch before, TimeSpan after)
    {
        var began = TimeProvider.System.GetTimestamp();
        while (!_firsts.All(first => Has(first, before))
            && TimeProvider.System.GetElapsedTime(began) < TimeSpan.FromSeconds(60)) await Task.Delay(10);
        await Task.Delay(after);
    }

    public async Task FinishAsync()
    {
        await _stop.CancelAsync();
        await _running;
    }

    public (DateTimeOffset First, DateTimeOffset Last) ResumedAt(Epoch before)
    {
        var firsts = _firsts.Select(first => Of(first, before)).ToArray();
        return (firsts.Min(), firsts.Max());
    }

    public static StreamId Stream(int index) => new(StreamId.FirstRawValue + (ulong)index);

    private static DateTimeOffset Of(List<(Epoch Epoch, DateTimeOffset At)> firsts, Epoch before)
    {
        lock (firsts) return firsts.First(one => one.Epoch > before).At;
    }

    private static bool Has(List<(Epoch Epoch, DateTimeOffset At)> firsts, Epoch before)
    {
        lock (firsts) return firsts.Exists(one => one.Epoch > before);
    }

    private async Task AppendAsync(int index)
    {
        var payload = new byte[128];
        var random = new Random(index);
        while (!_stop.IsCancellationRequested)
        {
            try
            {
                var result = await client.AppendAsync(payload,
                    streams == 0 ? [] : [Stream(random.Next(streams))]);
                if (result.Outcome == AppendOutcome.Unknown) Interlocked.Increment(ref _unknown);
                if (result.Outcome != AppendOutcome.Appended) continue;
                Interlocked.Increment(ref _appended);
                var now = DateTimeOffset.UtcNow;
                lock (_firsts[index])
                {
                    if (_firsts[index].Count == 0 || _firsts[index][^1].Epoch < result.Position.Epoch)
                        _firsts[index].Add((result.Position.Epoch, now));
                }
            }
            catch (CorfuException)
            {
                Interlocked.Increment(ref _failed);
            }
        }
    }
}
