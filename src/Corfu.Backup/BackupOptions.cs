using Corfu.Client;
using Corfu.Protocol;

namespace Corfu.Backup;

/// <summary>Limits of backups, restores and mirrors.</summary>
public sealed record BackupOptions
{
    public static readonly BackupOptions Default = new();

    /// <summary>Bytes after which the next file is begun. What was read since the last finished file is read again
    /// after a crash.</summary>
    public long FileSize { get; init; } = 64 << 20;

    /// <summary>Positions read at once, and copied at once; at most <see cref="CopyWriter.MaxWindow"/>.</summary>
    public int BatchPositions { get; init; } = 512;

    /// <summary>Bytes that a batch aims at, judged by the one before.</summary>
    public int BatchBytes { get; init; } = 4 << 20;

    /// <summary>Batches that are being read while one is being written.</summary>
    public int ReadAhead { get; init; } = 2;

    /// <summary>How often a mirror that has everything asks for the source's tail.</summary>
    public TimeSpan PollInterval { get; init; } = TimeSpan.FromMilliseconds(50);

    /// <summary>How often a mirror looks for trims of its source.</summary>
    public TimeSpan TrimInterval { get; init; } = TimeSpan.FromSeconds(5);

    /// <summary>Pause after either cluster was out of reach.</summary>
    public TimeSpan RetryDelay { get; init; } = TimeSpan.FromSeconds(1);

    /// <summary>All faults in one message.</summary>
    public void Validate()
    {
        List<string> faults = [];
        if (FileSize is < 1 or > int.MaxValue) faults.Add(nameof(FileSize));
        if (BatchPositions is < 1 or > CopyWriter.MaxWindow) faults.Add(nameof(BatchPositions));
        if (BatchBytes is < 1 or > MessageLimits.MaxFrame * 8) faults.Add(nameof(BatchBytes));
        if (ReadAhead is < 1 or > 64) faults.Add(nameof(ReadAhead));
        if (PollInterval <= TimeSpan.Zero) faults.Add(nameof(PollInterval));
        if (TrimInterval <= TimeSpan.Zero) faults.Add(nameof(TrimInterval));
        if (RetryDelay <= TimeSpan.Zero) faults.Add(nameof(RetryDelay));
        if (faults.Count > 0)
            throw new ArgumentException($"Out of range in {nameof(BackupOptions)}: {string.Join(", ", faults)}.");
    }
}
