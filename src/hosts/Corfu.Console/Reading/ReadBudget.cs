namespace Corfu.WebConsole.Reading;

/// <summary>Bounds what all pages together read of the log: a console makes no sick cluster sicker.</summary>
internal sealed class ReadBudget(TimeProvider time)
{
    private const double BytesPerSecond = 2 << 20;

    // A page that is opened after a pause reads so much at once.
    private static readonly TimeSpan s_burst = TimeSpan.FromSeconds(1);

    private readonly Lock _gate = new();

    // Guarded by _gate: when everything read so far has been paid for.
    private DateTimeOffset _paidAt;

    /// <summary>Called after a read; waits while the reads are ahead of the rate.</summary>
    public async ValueTask SpendAsync(long bytes, CancellationToken cancellationToken)
    {
        TimeSpan ahead;
        lock (_gate)
        {
            var now = time.GetUtcNow();
            if (_paidAt < now) _paidAt = now;
            _paidAt += TimeSpan.FromSeconds(bytes / BytesPerSecond);
            ahead = _paidAt - now - s_burst;
        }

        if (ahead > TimeSpan.Zero) await Task.Delay(ahead, time, cancellationToken);
    }
}
