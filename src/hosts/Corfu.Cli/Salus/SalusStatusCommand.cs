using Salus.Hosting;

namespace Corfu.Cli;

/// <summary><c>corfu salus status</c>.</summary>
internal static class SalusStatusCommand
{
    private const string Description =
        """
        Show the nodes that the log has in its book, and how many volumes there are, by the folder of nodes on this
        machine or by the log's connection string. The last line is the verdict. Exit code 0 if every node is registered
        and every region of every volume is whole, else 1. 'corfu volume list' shows the volumes.
        """;

    public static Command Create()
    {
        var directory = new Option<DirectoryInfo?>("--dir", "-d")
        { Description = "The nodes' folder.", HelpName = "DIR" };
        var connect = SalusConnections.LogOption();
        connect.Required = false;
        var json = CommonOptions.JsonOption();
        var command = new Command("status", Description) { directory, connect, json };
        command.SetAction(async (result, cancellationToken) =>
        {
            var folder = result.GetValue(directory) is { } path ? SalusFolder.Open(path.FullName) : null;
            var text = result.GetValue(connect) ?? folder?.Manifest.Log
                ?? throw new UsageException("Give --dir, or the log's connection string with --connect.");
            await using var salus = await SalusConnections.ConnectAsync(text, cancellationToken);
            var report = await SalusReport.ReadAsync(salus, text, folder, cancellationToken);
            await report.WriteAsync(result.InvocationConfiguration.Output, result.GetValue(json));
            return report.IsWell ? ExitCode.Ok : ExitCode.Failed;
        });
        return command;
    }
}
