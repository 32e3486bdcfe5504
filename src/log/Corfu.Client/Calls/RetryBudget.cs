namespace Corfu.Client;

/// <summary>The pauses and the time that are left to an operation. Pauses double, with jitter, until
/// <see cref="CorfuClientOptions.OperationTimeout"/>. Made at the first failure.</summary>
internal sealed class RetryBudget(string what, ClientClock clock, IEntropy entropy, CorfuClientOptions options)
{
    private readonly long _began = clock.GetTimestamp();
    private int _pauses;

    /// <summary>The operation, for people.</summary>
    public string What => what;

    /// <summary>Waits before the next attempt, or until <paramref name="early"/> completes.</summary>
    /// <exception cref="LogUnavailableException">The time is up.</exception>
    public async ValueTask PauseAsync(Task early, string reason, Exception? cause, CancellationToken cancellationToken)
    {
        if (clock.GetElapsedTime(_began) >= options.OperationTimeout)
            throw new LogUnavailableException(
                $"{what}: given up after {options.OperationTimeout.TotalSeconds:0.#} s; {reason}", cause);
        cancellationToken.ThrowIfCancellationRequested();
        ClientTelemetry.Retries.Add(1);
        var delay = BackOff.After(++_pauses, options.RetryDelay, options.MaxRetryDelay, entropy);
        // The bug: strings hash differently in every process.
        if (Planted.Is("hash-order")) delay += TimeSpan.FromTicks(reason.GetHashCode(StringComparison.Ordinal) & 0xFFF);
        await clock.DelayAsync(delay, early, cancellationToken);
    }
}
