using Salus.Hosting;

namespace Corfu.Cli;

/// <summary><c>corfu salus up</c>.</summary>
internal static class SalusUpCommand
{
    private const string Description =
        """
        Start the Salus nodes in a folder, or make new ones there, with a log of their own in DIR/log unless --log names
        one. Nodes that run already are left alone; a number above today's adds nodes. Prints the connection string of
        the log, which 'corfu volume' needs, a table of the nodes, and what to do next. All nodes on one machine protect
        no data from its loss: elsewhere each machine has a node of its own ('corfu salus node init').
        """;

    public static Command Create()
    {
        var directory = CommonOptions.DirectoryOption("The nodes' folder.");
        var servers = CommonOptions.NumberOption(
            "--servers", "Nodes. A volume with three copies needs three; each further one can take another's place.",
            3, 64);
        var log = new Option<string?>("--log")
        {
            Description = "The log that coordinates the nodes (default: a new one in DIR/log).",
            HelpName = "corfu://HOST:PORT,...",
        };
        var tls = new Option<bool>("--tls")
        { Description = "Encrypted connections, with an authority of the nodes' own log. Kept by later runs." };
        var authority = new Option<DirectoryInfo?>("--ca")
        {
            Description = "The certificate authority of the log that --log names, if that has TLS: issues the nodes' "
                + "certificates.",
            HelpName = "DIR",
        };
        var nbd = new Option<string?>("--listen-nbd")
        {
            Description = "An address at which the first new node serves every volume over NBD, those that are made "
                + "later too. Else 'corfu volume serve' does.",
            HelpName = "IP:PORT",
        };
        var json = CommonOptions.JsonOption();
        var command = new Command("up", Description) { directory, servers, log, tls, authority, nbd, json };
        command.SetAction(async (result, cancellationToken) =>
        {
            var path = result.GetRequiredValue(directory).FullName;
            var self = NodeCommandLine.Self(NodeCommand.Name, NodeCommand.ConfigOption);
            var known = SalusFolder.Exists(path) ? SalusFolder.Open(path).Manifest.Log : null;
            var connection = await OwnLog.StartAsync(
                path, known, result.GetValue(log), result.GetValue(tls), self, cancellationToken);
            var shape = new SalusShape(connection)
            {
                Nodes = result.GetValue(servers),
                Authority = result.GetValue(authority)?.FullName ?? OwnLog.AuthorityOf(path),
                Nbd = result.GetValue(nbd) is { } at ? Connections.EndpointOf(at).ToString() : null,
            };
            var (folder, problems) = await new ProcessSalus(self).UpAsync(path, shape, cancellationToken);
            await using var salus = await SalusConnections.ConnectAsync(connection, cancellationToken);
            var report = await SalusReport.ReadAsync(salus, connection, folder, cancellationToken);
            await report.WriteAsync(result.InvocationConfiguration.Output, result.GetValue(json));
            if (!result.GetValue(json)) await report.WriteNextAsync(result.InvocationConfiguration.Output, shape.Nbd);
            foreach (var problem in problems)
                await result.InvocationConfiguration.Error.WriteLineAsync(problem);
            return problems.IsEmpty ? ExitCode.Ok : ExitCode.Failed;
        });
        return command;
    }
}

/// <summary><c>corfu salus down</c>.</summary>
internal static class SalusDownCommand
{
    public static Command Create()
    {
        var directory = CommonOptions.DirectoryOption("The nodes' folder.");
        var command = new Command("down",
            "Stop the nodes of a folder, and their own log. Their data stays; 'salus up' continues from there.")
        {
            directory,
        };
        command.SetAction(async (result, cancellationToken) =>
        {
            var path = result.GetRequiredValue(directory).FullName;
            var self = NodeCommandLine.Self(NodeCommand.Name, NodeCommand.ConfigOption);
            var stopped = await new ProcessSalus(self).DownAsync(path, cancellationToken);
            stopped = stopped.AddRange(await OwnLog.StopAsync(path, self, cancellationToken));
            var output = result.InvocationConfiguration.Output;
            foreach (var node in stopped) await output.WriteLineAsync($"stopped {node}");
            if (stopped.IsEmpty) await output.WriteLineAsync("nothing was running");
            return ExitCode.Ok;
        });
        return command;
    }
}
