using System.Diagnostics;

namespace Corfu.Cli;

/// <summary>Looks at the disk below a folder.</summary>
internal interface IDiskMeasure
{
    DiskReport Describe(string folder);

    /// <exception cref="IOException">The folder cannot be written.</exception>
    /// <exception cref="UnauthorizedAccessException">The folder cannot be written.</exception>
    SyncTimes Sync(string folder);
}

internal readonly record struct SyncTimes(TimeSpan Median, TimeSpan P99);

/// <summary>Writes and syncs blocks as a unit's log does, into a file that is deleted.</summary>
internal sealed class DiskMeasure : IDiskMeasure
{
    private const int Syncs = 200;
    private const int Block = 4096;

    public DiskReport Describe(string folder) => HostFacts.DiskOf(folder);

    public SyncTimes Sync(string folder)
    {
        var path = Path.Combine(folder, $".doctor-{Environment.ProcessId}");
        var block = new byte[Block];
        Random.Shared.NextBytes(block);
        var times = new TimeSpan[Syncs];
        using (var file = File.OpenHandle(path, FileMode.Create, FileAccess.ReadWrite, FileShare.None,
            FileOptions.DeleteOnClose, (long)Syncs * Block))
        {
            for (var i = 0; i < Syncs; i++)
            {
                var began = Stopwatch.GetTimestamp();
                RandomAccess.Write(file, block, (long)i * Block);
                RandomAccess.FlushToDisk(file);
                times[i] = Stopwatch.GetElapsedTime(began);
            }
        }

        Array.Sort(times);
        return new SyncTimes(times[Syncs / 2], times[(Syncs * 99 / 100) - 1]);
    }
}
