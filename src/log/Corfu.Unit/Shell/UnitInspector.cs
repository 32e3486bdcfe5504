namespace Corfu.Unit;

/// <summary>Looks at units' folders offline and changes nothing in them.</summary>
public static class UnitInspector
{
    /// <summary>The units in a folder: itself, or below it, as a cluster's or a process's folder has them.</summary>
    public static IReadOnlyList<string> Find(string folder)
    {
        folder = Path.GetFullPath(folder);
        if (!Directory.Exists(folder)) throw new UnitFolderException($"{folder} does not exist.");
        var options = new EnumerationOptions
        {
            RecurseSubdirectories = true,
            MaxRecursionDepth = 6,
            IgnoreInaccessible = true,
        };
        return
        [
            .. Directory.EnumerateFiles(folder, UnitFolder.IdentityName, options)
                .Select(path => Path.GetDirectoryName(path)!)
                .Where(path => Directory.Exists(Path.Combine(path, UnitFolder.LogName)))
                .Order(StringComparer.Ordinal),
        ];
    }

    /// <summary>Reports what is known without reading the log; also of a running unit.</summary>
    public static UnitReport Describe(string folder)
    {
        using var files = OpenLog(folder);
        return Describe(folder, files);
    }

    /// <summary>Reads the whole log and checks every record and page.</summary>
    /// <exception cref="UnitFolderException">No unit's folder, or the unit is running.</exception>
    public static async ValueTask<UnitReport> CheckAsync(string folder)
    {
        using var held = Hold(folder);
        using var files = OpenLog(folder);
        var report = Describe(folder, files);
        var image = new SegmentImage(files, report.Identity.Store.SegmentSize);
        var contents = new UnitContents(report);
        var scanner = new LogScanner(image, RecordCodec.LogIdOf(report.Identity.Unit));
        try
        {
            var tail = await scanner.ScanAsync(report.DurableMark, contents.Visit);
            report.TornTail = await scanner.AnyRecordBehindAsync(tail.End);
        }
        catch (LogDamagedException damage)
        {
            report.Lost = damage.Message;
            report.RecordsBehindDamage = await scanner.CountBehindAsync(damage.Address);
        }

        return contents.Complete();
    }

    internal static DirectorySegmentFiles OpenLog(string folder) =>
        new(Path.Combine(folder, UnitFolder.LogName), readOnly: true);

    internal static UnitReport Describe(string folder, DirectorySegmentFiles files)
    {
        var path = Path.Combine(folder, UnitFolder.IdentityName);
        if (!File.Exists(path)) throw new UnitFolderException($"{folder} is no unit's folder: it holds no identity.");
        var identity = UnitIdentity.Parse(File.ReadAllText(path), path, new PageStoreOptions());
        return new UnitReport
        {
            Folder = folder,
            Identity = identity,
            Segments = files.List().Count,
            BytesOnDisk = new DirectoryInfo(folder).EnumerateFiles("*", SearchOption.AllDirectories).Sum(f => f.Length),
            DurableMark = new DurableMark(files, RecordCodec.LogIdOf(identity.Unit)).Read(),
        };
    }

    // As the unit itself does, so that neither runs beside the other.
    internal static FileStream? Hold(string folder)
    {
        var path = Path.Combine(folder, UnitFolder.LockName);
        if (!File.Exists(path)) return null;
        try
        {
            return new FileStream(path, FileMode.Open, FileAccess.Read, FileShare.None);
        }
        catch (IOException error)
        {
            throw new UnitFolderException($"{folder} is in use: stop the unit first.", error);
        }
    }
}
