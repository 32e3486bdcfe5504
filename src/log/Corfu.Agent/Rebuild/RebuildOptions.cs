namespace Corfu.Agent;

/// <summary>Limits of a rebuild.</summary>
public sealed record RebuildOptions
{
    /// <summary>Positions that are read and copied together.</summary>
    public int Batch { get; init; } = 512;

    /// <summary>Batches on their way at once.</summary>
    public int BatchesInFlight { get; init; } = 4;

    /// <summary>Bytes of entries read, and sent on, together, about.</summary>
    public int FrameBytes { get; init; } = 64 << 10;

    /// <summary>Frames of entries on their way to units that are rebuilt.</summary>
    public int FramesInFlight { get; init; } = 64;

    /// <summary>Bytes of entries copied per second; null: as fast as it goes.</summary>
    public long? BytesPerSecond { get; init; }

    /// <summary>Pause before another attempt; doubles up to <see cref="MaxRetryDelay"/>.</summary>
    public TimeSpan RetryDelay { get; init; } = TimeSpan.FromMilliseconds(5);

    public TimeSpan MaxRetryDelay { get; init; } = TimeSpan.FromSeconds(1);

    /// <summary>Rebuilt replicas become full at the end of the run, and at this interval in a long one.</summary>
    public TimeSpan JoinInterval { get; init; } = TimeSpan.FromSeconds(30);

    /// <exception cref="ArgumentException">Names every option that is out of range.</exception>
    public void Validate() => OptionRules.Check(
        nameof(RebuildOptions),
        (nameof(Batch), Batch is > 0 and <= MessageLimits.MaxItems),
        (nameof(BatchesInFlight), BatchesInFlight > 0),
        (nameof(FrameBytes), FrameBytes is > 0 and <= MessageLimits.ReadBudget),
        (nameof(FramesInFlight), FramesInFlight > 0),
        (nameof(BytesPerSecond), BytesPerSecond is null or > 0),
        (nameof(RetryDelay), RetryDelay > TimeSpan.Zero),
        (nameof(MaxRetryDelay), MaxRetryDelay >= RetryDelay),
        (nameof(JoinInterval), JoinInterval > TimeSpan.Zero));

    internal static RebuildOptions Checked(RebuildOptions? options)
    {
        options ??= new RebuildOptions();
        options.Validate();
        return options;
    }
}
