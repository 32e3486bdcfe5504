namespace Corfu.Backup;

/// <summary>Limits of backups, restores and mirrors.</summary>
public sealed record BackupOptions
{
    internal static readonly OptionRules<BackupOptions> Rules = new OptionRules<BackupOptions>(new())
        .Between(o => o.FileSize, 1, int.MaxValue)
        .Between(o => o.BatchPositions, 1, CopyWriter.MaxWindow)
        .Above(o => o.PollInterval, TimeSpan.Zero)
        .Above(o => o.TrimInterval, TimeSpan.Zero)
        .Above(o => o.RetryDelay, TimeSpan.Zero);

    /// <summary>Bytes after which the next file begins: at most so much is read again after a crash. Default 64
    /// MiB.</summary>
    public long FileSize { get; init; } = 64 << 20;

    /// <summary>Positions read at once, and copied at once; at most <see cref="CopyWriter.MaxWindow"/>. Default
    /// 512.</summary>
    public int BatchPositions { get; init; } = 512;

    /// <summary>Interval at which a mirror that has everything asks for the source's tail. Default 50 ms.</summary>
    public TimeSpan PollInterval { get; init; } = TimeSpan.FromMilliseconds(50);

    /// <summary>Interval at which a mirror looks for trims of its source. Default 5 s.</summary>
    public TimeSpan TrimInterval { get; init; } = TimeSpan.FromSeconds(5);

    /// <summary>Pause after either cluster was out of reach. Default 1 s.</summary>
    public TimeSpan RetryDelay { get; init; } = TimeSpan.FromSeconds(1);

    /// <exception cref="ArgumentException">Names every option that is out of range.</exception>
    public void Validate() => Rules.Check(this);

    internal static BackupOptions Checked(BackupOptions? options)
    {
        options ??= new BackupOptions();
        options.Validate();
        return options;
    }
}
