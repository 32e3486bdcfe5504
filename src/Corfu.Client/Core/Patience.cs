using Corfu.Protocol;

namespace Corfu.Client;

/// <summary>The pauses of one operation and the end of them. Made only when something has gone wrong.</summary>
internal sealed class Patience(ClientCore core, string what, CancellationToken cancellationToken)
{
    private readonly long _began = core.Time.GetTimestamp();
    private double _delay = core.Options.RetryDelay.TotalMilliseconds;

    public bool IsOver => core.Time.GetElapsedTime(_began) >= core.Options.OperationTimeout;

    /// <summary>Waits before the next attempt, or until a newer epoch is known, whichever is first.</summary>
    /// <exception cref="LogUnavailableException">The time is up.</exception>
    public async ValueTask PauseAsync(Epoch epoch, string reason, Exception? cause = null)
    {
        if (IsOver) throw new LogUnavailableException($"{what}: given up after {core.Options.OperationTimeout.TotalSeconds:0.#} s; {reason}", cause);
        cancellationToken.ThrowIfCancellationRequested();
        ClientTelemetry.Retries.Add(1);
        var delay = TimeSpan.FromMilliseconds(_delay);
#if PLANTED
        // Strings hash differently in every process.
        if (Planted.Is("hash-order")) delay += TimeSpan.FromTicks(string.GetHashCode(reason, StringComparison.Ordinal) & 0xFFF);
#endif
        _delay = Math.Min(_delay * 2, core.Options.MaxRetryDelay.TotalMilliseconds);
        core.Refresher.BeginPause();
        try
        {
            // Between half of the delay and all of it.
            var jittered = delay * (0.5 + (0.5 * core.Entropy.NextDouble()));
            await core.InTimeAsync(core.Projections.ChangedAfter(epoch), jittered, cancellationToken);
        }
        finally
        {
            core.Refresher.EndPause();
        }
    }
}
