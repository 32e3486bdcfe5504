namespace Corfu.Agent;

/// <summary>Limits of a rebuild.</summary>
public sealed record RebuildOptions
{
    internal static readonly OptionRules<RebuildOptions> Rules = new OptionRules<RebuildOptions>(new())
        .Between(o => o.Batch, 1, MessageLimits.MaxItems)
        .AtLeast(o => o.BatchesInFlight, 1)
        .Between(o => o.FrameBytes, 1, MessageLimits.ReadBudget)
        .AtLeast(o => o.FramesInFlight, 1)
        .AtLeast(o => o.BytesPerSecond, 1)
        .Above(o => o.RetryDelay, TimeSpan.Zero)
        .AtLeast(o => o.MaxRetryDelay, o => o.RetryDelay)
        .Above(o => o.JoinInterval, TimeSpan.Zero);

    /// <summary>Positions that are read and copied together. Default 512.</summary>
    public int Batch { get; init; } = 512;

    /// <summary>Batches on their way at once. Default 4.</summary>
    public int BatchesInFlight { get; init; } = 4;

    /// <summary>Bytes of entries read, and sent on, together, about. Default 64 KiB.</summary>
    public int FrameBytes { get; init; } = 64 << 10;

    /// <summary>Frames of entries on their way to units that are rebuilt. Default 64.</summary>
    public int FramesInFlight { get; init; } = 64;

    /// <summary>Bytes of entries copied per second; null: as fast as it goes. Default none.</summary>
    public long? BytesPerSecond { get; init; }

    /// <summary>Pause before another attempt; doubles up to <see cref="MaxRetryDelay"/>. Default 5 ms.</summary>
    public TimeSpan RetryDelay { get; init; } = TimeSpan.FromMilliseconds(5);

    /// <summary>Default 1 s; at least <see cref="RetryDelay"/>.</summary>
    public TimeSpan MaxRetryDelay { get; init; } = TimeSpan.FromSeconds(1);

    /// <summary>Rebuilt replicas become full at the end of the run, and at this interval in a long one. Default 30
    /// s.</summary>
    public TimeSpan JoinInterval { get; init; } = TimeSpan.FromSeconds(30);

    /// <exception cref="ArgumentException">Names every option that is out of range.</exception>
    public void Validate() => Rules.Check(this);

    internal static RebuildOptions Checked(RebuildOptions? options)
    {
        options ??= new RebuildOptions();
        options.Validate();
        return options;
    }
}
