using System.Diagnostics;
using Corfu.Client;

namespace Corfu.Load;

/// <summary>Appends at a rate that is held, or as fast as so many callers can.</summary>
internal sealed class HeldAppends
{
    private readonly CancellationTokenSource _stop = new();
    private readonly SemaphoreSlim? _permits;
    private readonly List<Task> _callers = [];
    private readonly long _began = Stopwatch.GetTimestamp();
    private long _done;

    /// <param name="perSecond">Null: no limit.</param>
    public HeldAppends(CorfuClient client, int callers, int size, double? perSecond)
    {
        var payload = new byte[size];
        Random.Shared.NextBytes(payload);
        _permits = perSecond is null ? null : new SemaphoreSlim(0);
        for (var i = 0; i < callers; i++) _callers.Add(Task.Run(() => RunAsync(client, payload)));
        if (perSecond is { } rate) _callers.Add(Task.Run(() => PaceAsync(rate)));
    }

    public long Done => Interlocked.Read(ref _done);

    public async Task<double> MeasureAsync(Func<Task> meanwhile)
    {
        var (began, done) = (Stopwatch.GetTimestamp(), Done);
        await meanwhile();
        return (Done - done) / Stopwatch.GetElapsedTime(began).TotalSeconds;
    }

    public async Task StopAsync()
    {
        await _stop.CancelAsync();
        await Task.WhenAll(_callers);
    }

    private async Task RunAsync(CorfuClient client, byte[] payload)
    {
        try
        {
            while (!_stop.IsCancellationRequested)
            {
                if (_permits is not null) await _permits.WaitAsync(_stop.Token);
                if ((await client.AppendAsync(payload, [], CancellationToken.None)).IsAppended)
                    Interlocked.Increment(ref _done);
            }
        }
        catch (OperationCanceledException)
        {
            // Stopped while it waited for its turn.
        }
    }

    private async Task PaceAsync(double rate)
    {
        var given = 0L;
        while (!_stop.IsCancellationRequested)
        {
            var due = (long)(Stopwatch.GetElapsedTime(_began).TotalSeconds * rate);
            // Appends that could not be done in their time are not made up for later.
            if (due > given && _permits!.CurrentCount < rate / 100) _permits.Release((int)(due - given));
            given = due;
            await Task.Delay(1);
        }
    }
}
