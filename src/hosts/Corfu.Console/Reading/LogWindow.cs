using Corfu.WebConsole.Collecting;

namespace Corfu.WebConsole.Reading;

/// <summary>The newest positions of the log, read while a page shows them, within the budget of all pages.</summary>
internal sealed class LogWindow : IAsyncDisposable
{
    public const int Length = 10_000;
    private const int Batch = 64;

    private static readonly TimeSpan s_interval = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan s_rest = TimeSpan.FromSeconds(10);
    private static readonly TimeSpan s_firstLook = TimeSpan.FromSeconds(2);

    // A hole is passed over when its writer has not filled it by then.
    private static readonly TimeSpan s_holePatience = TimeSpan.FromSeconds(5);

    private readonly LogAccess _access;
    private readonly Collector _collector;
    private readonly WantedLoop _loop;

    // Replaced before the first round behind each rest.
    private volatile TaskCompletionSource _caughtUp = new(TaskCreationOptions.RunContinuationsAsynchronously);

    // Used by the loop alone.
    private readonly Queue<LogItem> _items = new();
    private long _next = -1;
    private DateTimeOffset? _holeSince;

    private WindowPicture _picture = WindowPicture.Empty;

    public LogWindow(LogAccess access, Collector collector)
    {
        (_access, _collector) = (access, collector);
        _loop = new WantedLoop(collector.Time, s_interval, s_rest, RoundAsync, Failed);
    }

    /// <summary>The window. A page that comes first waits for it, a moment at most.</summary>
    public async Task<WindowPicture> LookAsync(CancellationToken cancellationToken)
    {
        _loop.Wake(() => _caughtUp = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously));
        var caughtUp = _caughtUp.Task;
        if (!caughtUp.IsCompleted)
            await Task.WhenAny(caughtUp, Task.Delay(s_firstLook, _collector.Time, cancellationToken));
        return Volatile.Read(ref _picture);
    }

    public ValueTask DisposeAsync() => _loop.DisposeAsync();

    private async Task RoundAsync(CancellationToken stop)
    {
        await CatchUpAsync(stop);
        _caughtUp.TrySetResult();
    }

    // The page shows the part before, and why there is no newer one.
    private void Failed(Exception e)
    {
        ConsoleLog.RoundFailed(_collector.Logger, e);
        Publish($"The log cannot be shown: {e.Message} The console's log has the rest.");
        _caughtUp.TrySetResult();
    }

    private async Task CatchUpAsync(CancellationToken stop)
    {
        try
        {
            var log = _access.Log;
            if (_collector.Picture.Tail is not { } told) return;
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
            var now = _collector.Time.GetUtcNow();
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
        ref _picture, new WindowPicture([.. _items], _collector.Time.GetUtcNow(), problem));
}

/// <summary>A part of the log.</summary>
/// <param name="Problem">Why there is no newer one; null: there is.</param>
public sealed record WindowPicture(ImmutableArray<LogItem> Items, DateTimeOffset At, string? Problem)
{
    public static WindowPicture Empty { get; } = new([], default, null);
}
