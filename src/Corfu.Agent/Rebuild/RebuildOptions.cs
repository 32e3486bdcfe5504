using Corfu.Protocol;

namespace Corfu.Agent;

/// <summary>Limits of a rebuild.</summary>
public sealed record RebuildOptions
{
    /// <summary>Positions that are looked at, read and copied together.</summary>
    public int Batch { get; init; } = 512;

    /// <summary>Batches on their way at once.</summary>
    public int BatchesInFlight { get; init; } = 4;

    /// <summary>About so many bytes of entries are read, and sent on, together.</summary>
    public int FrameBytes { get; init; } = 64 << 10;

    /// <summary>Frames of entries on their way to units that are rebuilt.</summary>
    public int FramesInFlight { get; init; } = 64;

    /// <summary>Trims and repairs on their way to units that are rebuilt.</summary>
    public int WritesInFlight { get; init; } = 1024;

    /// <summary>Bytes of entries copied per second; null: as fast as it goes.</summary>
    public long? BytesPerSecond { get; init; }

    /// <summary>Pause before something is tried again; doubles up to <see cref="MaxRetryDelay"/>.</summary>
    public TimeSpan RetryDelay { get; init; } = TimeSpan.FromMilliseconds(5);

    public TimeSpan MaxRetryDelay { get; init; } = TimeSpan.FromSeconds(1);

    /// <summary>What is rebuilt becomes full in one reconfiguration at the end; in a long rebuild, so often.</summary>
    public TimeSpan JoinInterval { get; init; } = TimeSpan.FromSeconds(30);

    /// <summary>All faults in one message.</summary>
    /// <exception cref="ArgumentException">An option is out of range.</exception>
    public void Validate() => OptionRules.Check(
        nameof(RebuildOptions),
        (nameof(Batch), Batch is > 0 and <= MessageLimits.MaxItems),
        (nameof(BatchesInFlight), BatchesInFlight > 0),
        (nameof(FrameBytes), FrameBytes is > 0 and <= MessageLimits.ReadBudget),
        (nameof(FramesInFlight), FramesInFlight > 0),
        (nameof(WritesInFlight), WritesInFlight > 0),
        (nameof(BytesPerSecond), BytesPerSecond is null or > 0),
        (nameof(RetryDelay), RetryDelay > TimeSpan.Zero),
        (nameof(MaxRetryDelay), MaxRetryDelay >= RetryDelay),
        (nameof(JoinInterval), JoinInterval > TimeSpan.Zero));
}
