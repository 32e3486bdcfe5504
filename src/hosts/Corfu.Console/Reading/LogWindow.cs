using Corfu.WebConsole.Collecting;

namespace Corfu.WebConsole.Reading;

/// <summary>The newest positions of the log, read while a page shows them, within the budget of all pages.</summary>
internal sealed class LogWindow(LogAccess access, Collector collector) : IAsyncDisposable
{
    public const int Length = 10_000;
    private const int Batch = 64;

    private static readonly TimeSpan s_interval = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan s_rest = TimeSpan.FromSeconds(10);
    private static readonly TimeSpan s_firstLook = TimeSpan.FromSeconds(2);

    // A hole is passed over when its writer has not filled it by then.
    private static readonly TimeSpan s_holePatience = TimeSpan.FromSeconds(5);

    private readonly CancellationTokenSource _stop = new();
    private readonly Lock _gate = new();

    // Guarded by _gate.
    private Task? _running;
    private DateTimeOffset _wantedUntil;
    private TaskCompletionSource _caughtUp = new(TaskCreationOptions.RunContinuationsAsynchronously);

    // Used by the loop alone.
    private readonly Queue<LogItem> _items = new();
    private long _next = -1;
    private DateTimeOffset? _holeSince;

    private WindowPicture _picture = WindowPicture.Empty;

    /// <summary>The window. A page that comes first waits for it, a moment at most.</summary>
    public async Task<WindowPicture> LookAsync(CancellationToken cancellationToken)
    {
        Task caughtUp;
        lock (_gate)
        {
            _wantedUntil = collector.Time.GetUtcNow() + s_rest;
            if (_running is null && !_stop.IsCancellationRequested)
            {
                _caughtUp = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
                _running = LoopContext.Pool.RunAsync(RunAsync);
            }

            caughtUp = _caughtUp.Task;
        }

        if (!caughtUp.IsCompleted)
            await Task.WhenAny(caughtUp, Task.Delay(s_firstLook, collector.Time, cancellationToken));
        return Volatile.Read(ref _picture);
    }

    public async ValueTask DisposeAsync()
    {
        Task? running;
        lock (_gate)
        {
            _stop.Cancel();
            running = _running;
        }

        if (running is not null) await running;
        _stop.Dispose();
    }

    private async Task RunAsync()
    {
        // The caller holds the gate.
        await Task.Yield();
        while (!IsOver())
        {
            try
            {
                await CatchUpAsync(_stop.Token);
                lock (_gate) _caughtUp.TrySetResult();
                await Task.Delay(s_interval, collector.Time, _stop.Token);
            }
            catch (OperationCanceledException)
            {
                // The console ends.
            }
        }
    }

    private bool IsOver()
    {
        lock (_gate)
        {
            if (!_stop.IsCancellationRequested && collector.Time.GetUtcNow() < _wantedUntil) return false;
            _running = null;
            return true;
        }
    }

    private async Task CatchUpAsync(CancellationToken stop)
    {
        try
        {
            var log = access.Log;
            if (collector.Picture.Tail is not { } told) return;
            var tail = told.Tail.Offset;
            if (_next < 0 || _next < tail - Length)
            {
                _items.Clear();
                _next = Math.Max(0, tail - Length);
            }

            while (_next < tail)
            {
                var count = (int)Math.Min(Batch, tail - _next);
                if (!await ReadAsync(log, count, stop)) break;
            }

            Publish(null);
        }
        catch (CorfuException e)
        {
            Publish(e.Message);
        }
    }

    // False: the next position is a hole that its writer may still fill.
    private async Task<bool> ReadAsync(ICorfuLog log, int count, CancellationToken stop)
    {
        ImmutableArray<LogPosition> wanted = [.. Enumerable.Range(0, count).Select(i => new LogPosition(_next + i))];
        var results = await log.ReadManyAsync(wanted, ReadDetail.Full, ReadMode.Observe, stop);
        foreach (var result in results)
        {
            var now = collector.Time.GetUtcNow();
            if (result.State == PageState.Unwritten && now - (_holeSince ??= now) < s_holePatience) return false;
            _holeSince = null;
            _items.Enqueue(ItemOf(result));
            if (_items.Count > Length) _items.Dequeue();
            _next++;
        }

        return true;
    }

    private static LogItem ItemOf(LogReadResult result)
    {
        if (result.Entry is not { } entry)
            return new LogItem(result.Position, result.State, null, [], 0, 0, []);
        var (runtime, records) = TangoRecordReader.Read(entry.Payload);
        return new LogItem(
            result.Position, result.State, entry.WriterTime, [.. entry.Streams.Select(static header => header.Stream)],
            entry.Payload.Length, runtime, records);
    }

    private void Publish(string? problem) => Volatile.Write(
        ref _picture, new WindowPicture([.. _items], collector.Time.GetUtcNow(), problem));
}

/// <summary>A part of the log.</summary>
/// <param name="Problem">Why there is no newer one; null: there is.</param>
public sealed record WindowPicture(ImmutableArray<LogItem> Items, DateTimeOffset At, string? Problem)
{
    public static WindowPicture Empty { get; } = new([], default, null);
}
