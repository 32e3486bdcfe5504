using Craq.Hosting;

namespace Corfu.Cli;

/// <summary><c>corfu craq status</c>.</summary>
internal static class CraqStatusCommand
{
    private const string Description =
        """
        Show the nodes and chains that the directory in the log has, by the folder of nodes on this machine or by the
        log's connection string. The last line is the verdict. Exit code 0 if every chain is open and all its members
        are registered, else 1.
        """;

    public static Command Create()
    {
        var directory = new Option<DirectoryInfo?>("--dir", "-d")
        { Description = "The nodes' folder.", HelpName = "DIR" };
        var connect = CraqConnections.LogOption();
        connect.Required = false;
        var json = CommonOptions.JsonOption();
        var command = new Command("status", Description) { directory, connect, json };
        command.SetAction(async (result, cancellationToken) =>
        {
            var folder = result.GetValue(directory) is { } path ? CraqFolder.Open(path.FullName) : null;
            var text = result.GetValue(connect) ?? folder?.Manifest.Log
                ?? throw new UsageException("Give --dir, or the log's connection string with --connect.");
            await using var log = await Connections.ConnectAsync(text, cancellationToken);
            await using var admin = await CraqAdmin.OpenAsync(log, cancellationToken);
            var overview = await admin.ReadAsync(cancellationToken);
            var nodes = overview.Nodes.Any(node => node.State != CraqNodeState.Gone)
                ? overview.ConnectionString(Connections.Parse(text)).ToString()
                : null;
            await CraqReport.WriteAsync(
                result.InvocationConfiguration.Output, nodes, text, overview, folder, result.GetValue(json));
            return CraqReport.IsWell(overview) ? ExitCode.Ok : ExitCode.Failed;
        });
        return command;
    }
}

/// <summary><c>corfu craq drain</c>.</summary>
internal static class CraqDrainCommand
{
    public static Command Create()
    {
        var node = new Argument<Guid>("node") { Description = "The node's identity, as 'craq status' shows it." };
        var stop = new Option<bool>("--stop") { Description = "Let the node have chains again." };
        return CraqConnections.WithAdmin("drain",
            "Move a node's chains to other nodes. 'craq status' shows when the node has none left.", [node, stop],
            async (admin, result, cancellationToken) =>
            {
                var isDraining = !result.GetValue(stop);
                await admin.DrainAsync(new NodeId(result.GetValue(node)), isDraining, cancellationToken);
                await result.InvocationConfiguration.Output.WriteLineAsync(isDraining ? "draining" : "active");
                return ExitCode.Ok;
            });
    }
}
