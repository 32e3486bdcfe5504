using Corfu.Backup;

namespace Corfu.Cli;

/// <summary><c>corfu backup</c> and <c>corfu backup verify</c>.</summary>
internal static class BackupCommand
{
    private const string Description =
        """
        Copy the log of a running cluster into a folder: everything below its tail, holes closed. Run again with the
        same folder it goes on where it ended; what was trimmed meanwhile is let go. Ctrl-C leaves a whole backup of
        what it has.
        """;

    private const string VerifyDescription =
        "Read a backup and check every byte of it: sizes, hashes, records, entries, and that no position is missing.";

    public static Command Create()
    {
        var connect = CommonOptions.ConnectOption();
        var to = CommonOptions.FolderOption("--to", "The backup's folder; made if need be.");
        var sign = new Option<FileSystemInfo>("--sign")
        {
            Description = "Sign the manifest with this identity: a folder with identity.pem of an administrator.",
            HelpName = "IDENTITY",
        };
        var metrics = MetricsOption();
        var command = new Command("backup", Description) { connect, to, sign, metrics };
        command.SetAction(async (result, cancellationToken) =>
        {
            var error = result.InvocationConfiguration.Error;
            using var folder = DirectoryBackupFolder.OpenToWrite(result.GetRequiredValue(to).FullName);
            await using var client = await Connections.ConnectAsync(result.GetRequiredValue(connect),
                cancellationToken);
            var progress = new ProgressLines(error, "backed up");
            try
            {
                var manifest = await new LogBackup(client, folder, TimeProvider.System).RunAsync(progress.Report,
                    cancellationToken);
                if (result.GetValue(sign) is { } identity)
                    BackupSignature.Sign(result.GetRequiredValue(to).FullName, identity.FullName);
                if (result.GetValue(metrics) is { } file)
                    BackupMetrics.Write(file.FullName, BackupMetrics.Finished, manifest.Written);
                await result.InvocationConfiguration.Output.WriteLineAsync(Summary(manifest, progress.Last.Positions));
            }
            catch (OperationCanceledException)
            {
                await error.WriteLineAsync($"interrupted; the same command goes on at {progress.Last.Copied}");
                throw;
            }

            return ExitCode.Ok;
        });
        command.Add(Verify());
        command.Add(BackupDrillCommand.Create());
        return command;
    }

    public static Option<FileSystemInfo> SignedByOption() => new("--signed-by")
    {
        Description = "Require a signature of an identity that this authority issued: a folder with ca.pem.",
        HelpName = "CA",
    };

    public static Option<FileInfo> MetricsOption() => new("--metrics")
    {
        Description = "Write the time of the success for node_exporter's textfile collector.",
        HelpName = "FILE.prom",
    };

    private static Command Verify()
    {
        var from = new Argument<DirectoryInfo>("dir") { Description = "The backup's folder." };
        var signed = SignedByOption();
        var command = new Command("verify", VerifyDescription) { from, signed };
        command.SetAction(async (result, cancellationToken) =>
        {
            var signer = result.GetValue(signed) is { } authority
                ? $", signed by {BackupSignature.Verify(result.GetRequiredValue(from).FullName, authority.FullName)}"
                : "";
            using var folder = DirectoryBackupFolder.OpenToRead(result.GetRequiredValue(from).FullName);
            var backup = await BackupReader.OpenAsync(folder, cancellationToken);
            var progress = new ProgressLines(result.InvocationConfiguration.Error, "verified");
            await backup.VerifyAsync(progress.Report, cancellationToken);
            await result.InvocationConfiguration.Output.WriteLineAsync(
                "sound: " + Summary(backup.Manifest, progress.Last.Positions) + signer);
            return ExitCode.Ok;
        });
        return command;
    }

    private static string Summary(BackupManifest manifest, long positions) =>
        $"cluster {manifest.Cluster}, positions {manifest.TrimMark} to {manifest.End}, {manifest.AllFiles.Count()} "
        + $"files, {manifest.AllFiles.Sum(f => f.Bytes)} bytes; {positions} positions in this run";
}
