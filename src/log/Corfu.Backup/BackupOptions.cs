namespace Corfu.Backup;

/// <summary>Limits of backups, restores and mirrors.</summary>
public sealed record BackupOptions
{
    /// <summary>Bytes after which the next file begins: at most so much is read again after a crash.</summary>
    public long FileSize { get; init; } = 64 << 20;

    /// <summary>Positions read at once, and copied at once; at most <see cref="CopyWriter.MaxWindow"/>.</summary>
    public int BatchPositions { get; init; } = 512;

    /// <summary>Interval at which a mirror that has everything asks for the source's tail.</summary>
    public TimeSpan PollInterval { get; init; } = TimeSpan.FromMilliseconds(50);

    /// <summary>Interval at which a mirror looks for trims of its source.</summary>
    public TimeSpan TrimInterval { get; init; } = TimeSpan.FromSeconds(5);

    /// <summary>Pause after either cluster was out of reach.</summary>
    public TimeSpan RetryDelay { get; init; } = TimeSpan.FromSeconds(1);

    /// <exception cref="ArgumentException">Names every option that is out of range.</exception>
    public void Validate() => OptionRules.Check(
        nameof(BackupOptions),
        (nameof(FileSize), FileSize is > 0 and <= int.MaxValue),
        (nameof(BatchPositions), BatchPositions is > 0 and <= CopyWriter.MaxWindow),
        (nameof(PollInterval), PollInterval > TimeSpan.Zero),
        (nameof(TrimInterval), TrimInterval > TimeSpan.Zero),
        (nameof(RetryDelay), RetryDelay > TimeSpan.Zero));

    internal static BackupOptions Checked(BackupOptions? options)
    {
        options ??= new BackupOptions();
        options.Validate();
        return options;
    }
}
