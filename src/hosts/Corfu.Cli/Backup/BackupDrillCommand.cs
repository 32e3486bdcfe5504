using System.Globalization;
using System.Text;
using Corfu.Backup;
using Corfu.Storage;

namespace Corfu.Cli;

/// <summary><c>corfu backup drill</c>.</summary>
internal static class BackupDrillCommand
{
    private const string Description =
        """
        Prove that a backup can be restored: a cluster on loopback takes it, every position is compared, and the cluster
        is deleted. It needs as much disk as the backup has. The time of the success stays beside the backup, where
        'corfu doctor --backup' reads it, and in the metric file.
        """;

    public static Command Create()
    {
        var from = CommonOptions.FolderOption("--from", "The backup's folder.");
        var work = new Option<DirectoryInfo>("--work")
        {
            Description = "An empty folder for the cluster, on a disk with room (default: a temporary one).",
            HelpName = "DIR",
        };
        var signed = BackupCommand.SignedByOption();
        var metrics = BackupCommand.MetricsOption();
        var command = new Command("drill", Description) { from, work, signed, metrics };
        command.SetAction(async (result, cancellationToken) =>
        {
            var folder = result.GetRequiredValue(from).FullName;
            if (result.GetValue(signed) is { } authority) BackupSignature.Verify(folder, authority.FullName);
            var end = await RunAsync(
                folder, result.GetValue(work)?.FullName, result.InvocationConfiguration.Error, cancellationToken);
            var drill = new DrillRecord(DateTimeOffset.UtcNow, end);
            if (result.GetValue(metrics) is { } file)
                BackupMetrics.Write(file.FullName, BackupMetrics.Verified, drill.Finished);
            drill.Write(folder);
            await result.InvocationConfiguration.Output.WriteLineAsync(
                $"restored and compared: every position up to {end} is as in the backup");
            return ExitCode.Ok;
        });
        return command;
    }

    private static async Task<long> RunAsync(
        string folder, string? work, TextWriter error, CancellationToken cancellationToken)
    {
        using var opened = DirectoryBackupFolder.OpenToRead(folder);
        var backup = await BackupReader.OpenAsync(opened, cancellationToken);
        if (work is not null && Directory.Exists(work) && Directory.EnumerateFileSystemEntries(work).Any())
            throw new UsageException($"The folder {work} is not empty: give --work a new one.");
        try
        {
            await using var cluster = await EmbeddedCluster.StartAsync(
                new EmbeddedClusterOptions { Folder = work, Units = 1, Replicas = 1, Automatic = false },
                cancellationToken);
            await using var client = await cluster.ConnectAsync(cancellationToken: cancellationToken);
            var (verified, restored, compared) = (new ProgressLines(error, "verified"),
                new ProgressLines(error, "restored"), new ProgressLines(error, "compared"));
            await new LogRestore(backup, client, TimeProvider.System).RunAsync(
                promote: true, verified.Report, restored.Report, cancellationToken);
            await new LogComparison(backup, client).RunAsync(compared.Report, cancellationToken);
            return backup.Manifest.End;
        }
        finally
        {
            if (work is not null && Directory.Exists(work)) Directory.Delete(work, recursive: true);
        }
    }
}

/// <summary>Files for node_exporter's textfile collector, replaced whole.</summary>
internal static class BackupMetrics
{
    public const string Finished = "corfu_backup_finished_timestamp_seconds";
    public const string Verified = "corfu_backup_restore_verified_timestamp_seconds";

    private static readonly Dictionary<string, string> s_help = new()
    {
        [Finished] = "End of the newest backup that succeeded.",
        [Verified] = "End of the newest restore drill that succeeded.",
    };

    /// <exception cref="IOException">The file cannot be written.</exception>
    public static void Write(string file, string name, DateTimeOffset at) => DurableFile.Replace(file,
        Encoding.ASCII.GetBytes(string.Create(CultureInfo.InvariantCulture,
            $"# HELP {name} {s_help[name]}\n# TYPE {name} gauge\n{name} {at.ToUnixTimeSeconds()}\n")));
}
