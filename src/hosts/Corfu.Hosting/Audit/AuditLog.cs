using System.Threading.Channels;

namespace Corfu.Hosting;

/// <summary>Takes entries from any thread and writes them behind it, synced each second. A file that cannot be written
/// stops nothing: entries that find no room are counted, and the count is written when the file can be again.</summary>
internal sealed class AuditLog : IAsyncDisposable
{
    private const int MaxWaiting = 8192;

    private static readonly TimeSpan SyncInterval = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan RetryInterval = TimeSpan.FromSeconds(10);

    private readonly Channel<AuditEntry> _waiting = Channel.CreateBounded<AuditEntry>(
        new BoundedChannelOptions(MaxWaiting) { SingleReader = true });

    private readonly string _node;
    private readonly AuditWriter _writer;
    private readonly TimeProvider _time;
    private readonly ILogger _logger;
    private readonly Task _running;
    private volatile string? _fault;
    private long _lost;
    private long _failedAt;

    public AuditLog(string folder, string node, TimeProvider time, ILogger logger)
    {
        (_node, _time, _logger, _writer) = (node, time, logger, new AuditWriter(folder));
        _running = LoopContext.Pool.RunAsync(RunAsync);
    }

    /// <summary>Why entries are not written now, or null.</summary>
    public string? Fault => _fault;

    public void Add(string @event, AuditWho? who, string what, string outcome = "Ok", long epoch = 0)
    {
        var entry = new AuditEntry(_time.GetUtcNow(), _node, @event, who, what, outcome, epoch);
        if (!_waiting.Writer.TryWrite(entry)) Lose();
    }

    public async ValueTask DisposeAsync()
    {
        _waiting.Writer.TryComplete();
        await _running.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        _writer.Dispose();
    }

    private async Task RunAsync()
    {
        await Task.Yield();
        var more = _waiting.Reader.WaitToReadAsync().AsTask();
        long? unsynced = null;
        while (true)
        {
            if (unsynced is { } since)
            {
                var rest = SyncInterval - _time.GetElapsedTime(since);
                if (rest > TimeSpan.Zero) await Task.WhenAny(more, Task.Delay(rest, _time));
                if (_time.GetElapsedTime(since) >= SyncInterval)
                {
                    Try(_writer.Sync);
                    unsynced = null;
                }

                if (!more.IsCompleted) continue;
            }

            if (!await more) break;
            while (_waiting.Reader.TryRead(out var entry)) Write(entry);
            unsynced ??= _time.GetTimestamp();
            more = _waiting.Reader.WaitToReadAsync().AsTask();
        }

        Try(_writer.Sync);
    }

    private void Write(AuditEntry entry)
    {
        if (_fault is not null && _time.GetElapsedTime(_failedAt) < RetryInterval)
        {
            Lose();
            return;
        }

        var isWritten = Try(() =>
        {
            _writer.Append(entry);
            if (_writer.TakeCut() is > 0 and var cut)
                Note("Cut", $"{cut} bytes of an unfinished line, left by a crash");
            if (Interlocked.Read(ref _lost) is > 0 and var lost)
            {
                Note("Lost", $"{lost} entries before this one could not be written");
                Interlocked.Add(ref _lost, -lost);
            }
        });
        if (!isWritten)
        {
            Lose();
            return;
        }

        // Only a written line ends the fault: a sync succeeds also while no file is open.
        if (_fault is not null) HostingLog.AuditWritten(_logger);
        _fault = null;
    }

    private void Lose()
    {
        Interlocked.Increment(ref _lost);
        HostingTelemetry.AuditFailed.Add(1);
    }

    private void Note(string @event, string what) =>
        _writer.Append(new AuditEntry(_time.GetUtcNow(), _node, @event, null, what, "Ok", 0));

    private bool Try(Action write)
    {
        try
        {
            write();
            return true;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            _failedAt = _time.GetTimestamp();
            if (_fault is null) HostingLog.AuditFailed(_logger, e.Message);
            _fault = $"The audit file cannot be written: {e.Message}";
            return false;
        }
    }
}
