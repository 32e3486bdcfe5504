using Corfu.Backup;

namespace Corfu.Cli;

/// <summary><c>corfu restore</c>.</summary>
internal static class RestoreCommand
{
    private const string Description =
        """
        Bring a backup back as the log of an empty cluster: every entry at its position, junk and trims as they were.
        The backup is verified first, and the cluster is not touched before. From then until the restore has finished
        the cluster takes no appends. Interrupted at any point, the same command finishes it.
        """;

    public static Command Create()
    {
        var connect = CommonOptions.ConnectOption();
        var from = CommonOptions.FolderOption("--from", "The backup's folder.");
        var keep = new Option<bool>("--keep-mirror")
        {
            Description =
                "Leave the cluster a mirror of the one that was backed up; 'corfu mirror run' then copies what came "
                + "later.",
        };
        var command = new Command("restore", Description) { connect, from, keep };
        command.SetAction(async (result, cancellationToken) =>
        {
            var error = result.InvocationConfiguration.Error;
            using var folder = DirectoryBackupFolder.OpenToRead(result.GetRequiredValue(from).FullName);
            var backup = await BackupReader.OpenAsync(folder, cancellationToken);
            await using var client = await Connections.ConnectAsync(result.GetRequiredValue(connect),
                cancellationToken);
            var verifying = new ProgressLines(error, "verified");
            var copying = new ProgressLines(error, "restored");
            try
            {
                await new LogRestore(backup, client, TimeProvider.System).RunAsync(
                    !result.GetValue(keep), verifying.Report, copying.Report, cancellationToken);
            }
            catch (OperationCanceledException)
            {
                await error.WriteLineAsync(client.Projection.IsMirror
                    ? "Interrupted. The cluster takes no appends before the same command has finished."
                    : "Interrupted. The cluster is as it was; the same command begins again.");
                throw;
            }

            await result.InvocationConfiguration.Output.WriteLineAsync(
                $"restored positions {backup.Manifest.TrimMark} to {backup.Manifest.End} of cluster {backup.Cluster} "
                + $"into {client.Projection.Cluster}");
            return ExitCode.Ok;
        });
        return command;
    }
}
