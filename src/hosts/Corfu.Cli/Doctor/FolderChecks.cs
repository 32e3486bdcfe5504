using System.Globalization;

namespace Corfu.Cli;

/// <summary>Checks of a node's folder on this machine, whether the node runs or not.</summary>
internal sealed class FolderChecks(IDiskMeasure disks)
{
    private const UnixFileMode Others = UnixFileMode.GroupRead | UnixFileMode.GroupWrite | UnixFileMode.GroupExecute
        | UnixFileMode.OtherRead | UnixFileMode.OtherWrite | UnixFileMode.OtherExecute;

    private static readonly TimeSpan SyncFault = TimeSpan.FromMilliseconds(100);
    private static readonly TimeSpan SyncAdvice = TimeSpan.FromMilliseconds(20);

    // No disk is as fast: a cache answers, and may lose what it has.
    private static readonly TimeSpan SyncTooFast = TimeSpan.FromMicroseconds(20);

    // Mount points that were looked at: a file system is measured once.
    private readonly HashSet<string> _mounts = [];

    public IEnumerable<Finding> Of(NodeFolder node) =>
    [
        node.IsRunning
            ? Finding.Ok("process", node.Path, "runs")
            : Finding.Unseen("process", node.Path, "does not run, so its memory and open files are not seen"),
        PrivacyOf(node.Path), .. node.DataFolders.Where(Directory.Exists).Where(IsNew).SelectMany(DiskOf),
        .. MemoryOf(node), .. SwapOf(node.Path),
    ];

    private bool IsNew(string folder) => _mounts.Add(
        DriveInfo.GetDrives().Select(drive => drive.Name).Where(mount => IsBelow(folder, mount))
            .MaxBy(mount => mount.Length) ?? folder);

    private static bool IsBelow(string folder, string mount) =>
        folder.StartsWith(mount, StringComparison.Ordinal)
        && (folder.Length == mount.Length || mount.EndsWith(Path.DirectorySeparatorChar)
            || folder[mount.Length] == Path.DirectorySeparatorChar);

    private IEnumerable<Finding> DiskOf(string folder)
    {
        foreach (var finding in ProcessChecks.DiskOf("", disks.Describe(folder)))
            yield return finding with { Subject = folder };
        yield return SyncOf(folder);
    }

    private Finding SyncOf(string folder)
    {
        SyncTimes times;
        try
        {
            times = disks.Sync(folder);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return Finding.Unseen("disk-sync", folder, $"cannot be written: {e.Message} Run this as the node's user");
        }

        var text = string.Create(CultureInfo.InvariantCulture,
            $"200 syncs of 4 KiB: median {times.Median.TotalMilliseconds:0.000} ms, "
            + $"p99 {times.P99.TotalMilliseconds:0.0} ms");
        return times.P99 >= SyncFault
            ? Finding.Fault("disk-sync", folder,
                $"{text}: every append waits for it; take a faster disk, or move other work off it")
            : times.P99 >= SyncAdvice
                ? Finding.Advice("disk-sync", folder, $"{text}: every append waits for it")
                : times.Median < SyncTooFast
                    ? Finding.Advice("disk-sync", folder,
                        $"{text}: durable? No disk is as fast; does a cache without a battery answer for it?")
                    : Finding.Ok("disk-sync", folder, text);
    }

    private static Finding PrivacyOf(string folder)
    {
        if (OperatingSystem.IsWindows()) return Finding.Unseen("private", folder, "file modes are Unix's");
        var mode = File.GetUnixFileMode(folder);
        return (mode & Others) == UnixFileMode.None
            ? Finding.Ok("private", folder, "its user's alone")
            : Finding.Advice("private", folder, $"other users may look into it: chmod 700 {folder}");
    }

    // Sizes that the unit takes whatever it stores (docs/operations-reference.md, Sizes).
    private static IEnumerable<Finding> MemoryOf(NodeFolder node)
    {
        var units = node.Options.Roles.Count(role => role.Role == NodeRole.Unit);
        var store = node.Options.Limits.Unit.Store;
        var needed = units * (store.LogMemory + store.HotBytes + store.MapIndexSize + store.MapMemory);
        var limit = HostFacts.MemoryLimit();
        if (needed == 0 || limit <= 0) yield break;
        var text = $"limits.unit.store takes {needed >> 20} MiB; the process may hold {limit >> 20} MiB";
        yield return needed > limit / 2
            ? Finding.Advice("memory-limits", node.Path, $"{text}: leave half for connections and reads")
            : Finding.Ok("memory-limits", node.Path, text);
    }

    private static IEnumerable<Finding> SwapOf(string folder)
    {
        const string File = "/proc/swaps";
        if (!System.IO.File.Exists(File)) yield break;
        yield return System.IO.File.ReadLines(File).Skip(1).Any()
            ? Finding.Advice("swap", folder,
                "this machine swaps: a node whose memory is swapped out looks dead; swapoff, or MemorySwapMax=0")
            : Finding.Ok("swap", folder, "this machine does not swap");
    }
}
