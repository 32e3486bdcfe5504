using System.Globalization;
using Corfu.Backup;

namespace Corfu.Cli;

/// <summary>Checks of the newest backup, and of its restore drill.</summary>
internal static class BackupChecks
{
    private static readonly TimeSpan BackupLimit = TimeSpan.FromHours(26);
    private static readonly TimeSpan DrillLimit = TimeSpan.FromDays(35);

    /// <param name="folder">Null: the operator named none.</param>
    public static IEnumerable<Finding> Of(string? folder, ClusterId? cluster, DateTimeOffset now)
    {
        if (folder is null)
        {
            yield return Finding.Unseen("backup", "cluster", "name the folder of its backups: --backup DIR");
            yield break;
        }

        BackupManifest manifest;
        string? fault = null;
        try
        {
            manifest = BackupManifest.Decode(File.ReadAllBytes(Path.Combine(folder, BackupManifest.FileName)));
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException or BackupException)
        {
            (manifest, fault) = (BackupManifest.Empty(ClusterId.None), e.Message);
        }

        const string Make = "'corfu backup --connect C --to DIR', nightly";
        if (fault is not null)
        {
            yield return Finding.Fault("backup", folder, $"no backup: {fault} Make one: {Make}");
            yield break;
        }

        var written = string.Create(CultureInfo.InvariantCulture, $"{manifest.Written:yyyy-MM-dd HH:mm}Z");
        yield return cluster is { } own && manifest.Cluster != own.Value
            ? Finding.Fault("backup", folder, $"holds the cluster {manifest.Cluster}, not {own}: name another folder")
            : now - manifest.Written > BackupLimit
                ? Finding.Fault("backup", folder, $"the newest backup is of {written}, older than 26 hours: {Make}")
                : Finding.Ok("backup", folder, $"of {written}, up to position {manifest.End}");
        yield return DrillOf(folder, now);
    }

    private static Finding DrillOf(string folder, DateTimeOffset now)
    {
        const string Drill = "'corfu backup drill --from DIR', monthly";
        if (DrillRecord.Read(folder) is not { } drill)
            return Finding.Advice("restore", folder, $"no backup of this folder was restored to prove it: {Drill}");
        var at = string.Create(CultureInfo.InvariantCulture, $"{drill.Finished:yyyy-MM-dd HH:mm}Z");
        return now - drill.Finished > DrillLimit
            ? Finding.Fault("restore", folder, $"last proved at {at}, more than 35 days ago: {Drill}")
            : Finding.Ok("restore", folder, $"proved at {at}, up to position {drill.End}");
    }
}
