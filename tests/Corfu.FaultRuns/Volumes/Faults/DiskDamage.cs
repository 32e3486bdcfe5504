using Corfu.FaultRuns.Machine;
using Corfu.FaultRuns.Volumes.Clients;
using Salus.Store.Shell;

namespace Corfu.FaultRuns.Volumes.Faults;

/// <summary>Damages the data of a node whose process has ended: files that its store wrote, nothing else.</summary>
internal static class DiskDamage
{
    private const int Flips = 12;

    /// <returns>The damage in words.</returns>
    public static string FlipBits(string data, int seed)
    {
        var random = new Random(seed);
        var files = FilesOf(data);
        for (var i = 0; i < Flips; i++)
        {
            var file = files[random.Next(files.Count)];
            using var stream = File.Open(file, FileMode.Open, FileAccess.ReadWrite);
            stream.Position = random.NextInt64(stream.Length);
            var before = stream.ReadByte();
            stream.Position--;
            stream.WriteByte((byte)(before ^ (1 << random.Next(8))));
        }

        return $"{Flips} bits flipped in {files.Count} files";
    }

    /// <inheritdoc cref="FlipBits"/>
    public static string CutLog(string data, int seed)
    {
        var newest = FilesOf(data)
            .Where(file => Path.GetFileName(Path.GetDirectoryName(file)) == StoreFolder.LogName)
            .OrderBy(file => file, StringComparer.Ordinal).LastOrDefault()
            ?? throw new RunException($"There is no log file in {data}.");
        using var stream = File.Open(newest, FileMode.Open, FileAccess.ReadWrite);
        // The file is zeros behind its last record: the cut takes records as well.
        var kept = stream.Length * new Random(seed).Next(5, 40) / 1000;
        var length = stream.Length;
        stream.SetLength(kept);
        stream.SetLength(length);
        return $"{Path.GetFileName(newest)} is zeros from {kept} on";
    }

    // The files of the store's log and its checkpoint files: neither its identity, nor the node's own.
    private static List<string> FilesOf(string data)
    {
        var files = Directory.EnumerateFiles(data, "*", SearchOption.AllDirectories)
            .Where(file => Path.GetDirectoryName(file)!.Split(Path.DirectorySeparatorChar)
                .Any(folder => folder is StoreFolder.LogName or StoreFolder.FilesName)
                && new FileInfo(file).Length >= BlockText.Size)
            .Order(StringComparer.Ordinal).ToList();
        return files.Count > 0 ? files : throw new RunException($"There are no files of a store in {data}.");
    }
}
