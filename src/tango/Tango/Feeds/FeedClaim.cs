using Corfu;
using Tango.Playback;

namespace Tango.Feeds;

/// <summary>
/// A registered feed's claim on history. A reader resumes from a checkpoint that is not above its place, so that the
/// claim begins at such a checkpoint, and below it where transactions may have spilled (R19).
/// </summary>
internal sealed class FeedClaim(
    TangoDirectory directory, TimeProvider time, string name, TimeSpan lease, ObjectId cohort, PlayedDirectory played)
{
    private static readonly TimeSpan s_longestPause = TimeSpan.FromSeconds(10);

    // Ends of checkpoints that count, above _start, lowest first.
    private readonly Queue<LogPosition> _checkpoints = [];
    private LogPosition _newest;

    // End of the checkpoint from which the reader can resume.
    private LogPosition _start;
    private LogPosition _held;
    private long _heldAt;
    private long _lookedAt;

    /// <summary>Between two looks at the claims.</summary>
    public TimeSpan Pause => Renewal < s_longestPause ? Renewal : s_longestPause;

    private TimeSpan Renewal => lease / 3;

    /// <summary>The reader begins with a state of this position.</summary>
    public async ValueTask BeginAsync(LogPosition start, CancellationToken cancellationToken)
    {
        (_start, _newest) = (start, start);
        _checkpoints.Clear();
        var claims = await directory.ReadClaimsAsync(cancellationToken);
        await HoldAsync(claims, cancellationToken);
    }

    /// <summary>Moves the claim behind what the reader is done with, and renews its lease in time.</summary>
    /// <param name="done">The reader will not resume below.</param>
    public async ValueTask RenewIfDueAsync(LogPosition done, CancellationToken cancellationToken)
    {
        if (time.GetElapsedTime(_lookedAt) < Pause) return;
        var claims = await directory.ReadClaimsAsync(cancellationToken);
        _lookedAt = time.GetTimestamp();
        if (claims.Cohorts.GetValueOrDefault(cohort).Checkpoint is { } newest && newest > _newest)
        {
            _newest = newest;
            _checkpoints.Enqueue(newest);
        }

        while (_checkpoints.TryPeek(out var next) && next <= done) _start = _checkpoints.Dequeue();
        if (Needed(claims) > _held || time.GetElapsedTime(_heldAt) >= Renewal)
            await HoldAsync(claims, cancellationToken);
    }

    // Released history is not needed as far as the reader can know: if it was, playing says so.
    private LogPosition Needed(TrimClaims claims) =>
        LogPosition.Max(claims.Released, new LogPosition(Math.Max(0, _start.Offset - played.MaxSpan)));

    private async ValueTask HoldAsync(TrimClaims claims, CancellationToken cancellationToken)
    {
        while (true)
        {
            var needed = Needed(claims);
            try
            {
                await directory.HoldAsync(name, needed, lease, cancellationToken);
                (_held, _heldAt, _lookedAt) = (needed, time.GetTimestamp(), time.GetTimestamp());
                return;
            }
            catch (TangoRejectedException e)
            {
                claims = await directory.ReadClaimsAsync(cancellationToken);
                // No release came in between, so that the next attempt would end alike.
                if (claims.Released <= needed) throw new TangoDirectoryException(e.Reason);
            }
        }
    }
}
