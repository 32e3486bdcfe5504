using System.Globalization;

namespace Corfu.Cli;

/// <summary>Checks of what a process says of itself: disks, memory, files, certificates.</summary>
internal static class ProcessChecks
{
    private const double FilesFault = 0.8;
    private const long FilesAdvised = 65536;
    private const double MemoryAdvice = 0.75;
    private const double MemoryFault = 0.9;
    private const long SwapAdvice = 64 << 20;
    private const double DaysFault = 1;
    private const double DaysAdvice = 14;

    // A unit refuses pages below its reserve, the smaller of both (PageStoreOptions.Headroom).
    private const long Reserve = 128 << 20;
    private const int ReserveShare = 16;
    private const long SpaceAdvice = 10L << 30;
    private const int SpaceAdviceShare = 10;
    private const long InodesFault = 1_000;
    private const int InodesAdviceShare = 10;

    public static IEnumerable<Finding> Of(ClusterFacts facts) =>
        facts.Members.Where(member => member.Process is not null).SelectMany(member => Of(member, facts))
            .Concat(TrustOf(facts)).Concat(DeniedOf(facts));

    private static IEnumerable<Finding> Of(MemberFacts member, ClusterFacts facts)
    {
        var process = member.Process!;
        return
        [
            .. process.Warnings.Select(warning => Finding.Advice("warning", member.Name, warning)),
            // Folders on one file system count once.
            .. process.Disks.DistinctBy(disk => disk with { Path = "", Free = disk.Free >> 24, FreeInodes = 0 })
                .SelectMany(disk => DiskOf(member.Name, disk)), .. FillsOf(member, facts.Growth),
            FilesOf(member.Name, process.OpenFiles, process.OpenFileLimit),
            MemoryOf(member.Name, process.Memory, process.MemoryLimit), SwapOf(member.Name, process.Swapped),
            .. CertificateChecks.Of(member.Name, process, facts.Now),
        ];
    }

    /// <summary>Space, inodes and kind of a file system.</summary>
    public static IEnumerable<Finding> DiskOf(string subject, DiskReport disk)
    {
        var where = $"{subject} {disk.Path}";
        yield return disk.FileSystem switch
        {
            "" => Finding.Unseen("disk-kind", where, "the operating system does not tell its file system"),
            "tmpfs" or "ramfs" or "rootfs" => Finding.Fault("disk-kind", where,
                $"{disk.FileSystem} is memory: entries are lost when the machine restarts. Put the folder on a disk"),
            "nfs" or "nfs4" or "cifs" or "smb2" or "smb" or "fuse" or "fuseblk" or "9p" or "ceph" or "glusterfs" =>
                Finding.Advice("disk-kind", where,
                    $"{disk.FileSystem}: durable? A sync must reach a disk before it returns; take a local one"),
            "overlay" or "overlayfs" or "aufs" => Finding.Advice("disk-kind", where,
                $"{disk.FileSystem}: durable? A container's own layer goes with it; mount a volume there"),
            _ => Finding.Ok("disk-kind", where, disk.FileSystem),
        };
        if (disk.Size <= 0 || disk.Free < 0)
        {
            yield return Finding.Unseen("disk-space", where, "the operating system does not tell its space");
        }
        else
        {
            var left = $"{disk.Free >> 20} MiB of {disk.Size >> 20} MiB are free";
            const string Room = "make room as in docs/operations.md, 'A disk is full'";
            yield return disk.Free < Math.Min(Reserve, disk.Size / ReserveShare)
                ? Finding.Fault("disk-space", where, $"full: {left}; {Room}")
                : disk.Free < Math.Min(SpaceAdvice, disk.Size / SpaceAdviceShare)
                    ? Finding.Advice("disk-space", where, $"nearly full: {left}; {Room}")
                    : Finding.Ok("disk-space", where, left);
        }

        // A file system without such a limit says zero.
        if (disk.Inodes <= 0) yield break;
        var inodes = string.Create(CultureInfo.InvariantCulture, $"{disk.FreeInodes} of {disk.Inodes} inodes are free");
        yield return disk.FreeInodes < InodesFault
            ? Finding.Fault("inodes", where, $"{inodes}: no files can be made soon; delete small files there")
            : disk.FreeInodes < disk.Inodes / InodesAdviceShare
                ? Finding.Advice("inodes", where, inodes)
                : Finding.Ok("inodes", where, inodes);
    }

    // The fullest disk of the process counts, for the unit's may be any of them.
    private static IEnumerable<Finding> FillsOf(MemberFacts member, LogGrowth? growth)
    {
        if (member.StoredBytes is not { } stored || stored == 0) yield break;
        var free = member.Process!.Disks.Select(disk => disk.Free).Where(free => free >= 0).DefaultIfEmpty(-1).Min();
        if (growth is not { Positions: > 0, PositionsPerDay: > 0 } known || free < 0)
        {
            yield return Finding.Unseen("disk-fills", member.Name,
                "the log's entries span too little time to tell when its disk is full");
            yield break;
        }

        var perDay = (double)stored / known.Positions * known.PositionsPerDay;
        var days = free / perDay;
        var text = string.Create(CultureInfo.InvariantCulture,
            $"at {perDay / (1 << 20):0.#} MiB a day, without trims, its disk is full in {days:0.#} days");
        yield return days < DaysFault
            ? Finding.Fault("disk-fills", member.Name, $"{text}: trim, or add a unit")
            : days < DaysAdvice
                ? Finding.Advice("disk-fills", member.Name, $"{text}: see what pins the trim point ('corfu status')")
                : Finding.Ok("disk-fills", member.Name, text);
    }

    public static Finding FilesOf(string subject, long open, long limit)
    {
        if (open < 0 || limit <= 0)
            return Finding.Unseen("open-files", subject, "the operating system does not tell, or there is no limit");
        var text = string.Create(CultureInfo.InvariantCulture, $"{open} of {limit} files are open");
        return open > limit * FilesFault
            ? Finding.Fault("open-files", subject,
                $"{text}: raise LimitNOFILE to {FilesAdvised}, then restart the node")
            : limit < FilesAdvised
                ? Finding.Advice("open-files", subject, $"{text}: {FilesAdvised} are advised (LimitNOFILE, ulimit -n)")
                : Finding.Ok("open-files", subject, text);
    }

    public static Finding MemoryOf(string subject, long held, long limit)
    {
        if (held < 0 || limit <= 0) return Finding.Unseen("memory", subject, "the operating system does not tell");
        var text = $"{held >> 20} MiB of {limit >> 20} MiB are held";
        const string Less = "lower limits.unit.store and limits.server in node.json, or give the process more";
        return held > limit * MemoryFault
            ? Finding.Fault("memory", subject, $"{text}: {Less}")
            : held > limit * MemoryAdvice
                ? Finding.Advice("memory", subject, $"{text}: {Less}")
                : Finding.Ok("memory", subject, text);
    }

    private static Finding SwapOf(string subject, long swapped) => swapped switch
    {
        < 0 => Finding.Unseen("swap", subject, "the operating system does not tell"),
        > SwapAdvice => Finding.Advice("swap", subject,
            $"{swapped >> 20} MiB of it are swapped out: it answers late and looks dead; give it memory, or switch "
            + "swap off"),
        _ => Finding.Ok("swap", subject, $"{swapped >> 20} MiB are swapped out"),
    };

    /// <summary>Agents exchange their lists: after some seconds all processes deny the same.</summary>
    private static IEnumerable<Finding> DeniedOf(ClusterFacts facts)
    {
        var lists = facts.Members.Where(member => member.Process is not null)
            .GroupBy(member => member.Process!.DeniedDigest).ToList();
        if (lists.Count == 1)
            yield return Finding.Ok("deny-list", "cluster",
                $"all nodes deny the same {lists[0].First().Process!.DeniedCertificates} certificates");
        else if (lists.Count > 1)
            yield return Finding.Advice("deny-list", "cluster",
                "nodes deny different certificates: "
                + string.Join("; ", lists.Select(list => $"{list.First().Process!.DeniedCertificates} on "
                    + string.Join(", ", list.Select(member => member.Name))))
                + ". Agents bring them together within seconds; if it stays, mend the ports between them");
    }

    /// <summary>All processes trust the same certificates, except while one replaces another.</summary>
    private static IEnumerable<Finding> TrustOf(ClusterFacts facts)
    {
        var sets = facts.Members.Where(member => member.Process is not null)
            .GroupBy(member => string.Join('\n', member.Process!.Certificates.Where(certificate => certificate.IsAnchor)
                .Select(certificate => certificate.Fingerprint).Order(StringComparer.Ordinal)))
            .ToList();
        if (sets is not [{ Key: "" }] and not [])
            yield return sets.Count == 1
                ? Finding.Ok("trust", "cluster", "all nodes trust the same certificates")
                : Finding.Fault("trust", "cluster",
                    "nodes trust different certificates: "
                    + string.Join("; ", sets.Select(set => string.Join(", ", set.Select(member => member.Name))))
                    + ". Bring every ca.pem to the same content, the new certificate first into all of them");
    }
}
