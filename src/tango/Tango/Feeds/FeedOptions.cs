using Tango.Runtime;

namespace Tango;

/// <summary>How changes of an object are read.</summary>
public sealed record FeedOptions
{
    /// <summary>
    /// Registers the feed: the log is not trimmed of what its reader has not seen, while the reader comes back within
    /// <see cref="Lease"/>. No other reader of the log may have the name. Null: trims do not wait, and a reader that is
    /// overtaken by one gets a <see cref="TangoChangeKind.Reset"/>.
    /// </summary>
    public string? Name { get; init; }

    /// <summary>
    /// The keys whose changes are told; null: all. A reader that resumes with the place of its last element misses no
    /// change of these keys: after <see cref="ProgressEvery"/> positions without one, a
    /// <see cref="TangoChangeKind.Progress"/> moves the place on.
    /// </summary>
    public ChangeKeys? Keys { get; init; }

    /// <summary>How long a registered feed counts after its reader last asked for a change. The default is ten
    /// minutes.</summary>
    public TimeSpan Lease { get; init; } = TimeSpan.FromMinutes(10);

    /// <summary>How long a reader that has seen everything waits before the log is asked for more. Feeds of one runtime
    /// that wait share a request; the shortest interval counts.</summary>
    public TimeSpan PollInterval { get; init; } = TimeSpan.FromMilliseconds(50);

    /// <summary>A <see cref="TangoChangeKind.Progress"/> follows when the log has grown by so many positions without a
    /// change that is told.</summary>
    public long ProgressEvery { get; init; } = 10_000;

    internal void Require()
    {
        if (Name is not null) ObjectNames.Require(Name);
        ArgumentOutOfRangeException.ThrowIfLessThanOrEqual(Lease, TimeSpan.Zero);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(Lease, RuntimeLog.LongestDuration);
        ArgumentOutOfRangeException.ThrowIfLessThanOrEqual(PollInterval, TimeSpan.Zero);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(PollInterval, TimeSpan.FromDays(1));
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(ProgressEvery);
    }
}
