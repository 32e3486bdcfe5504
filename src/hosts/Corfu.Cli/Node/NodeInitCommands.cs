namespace Corfu.Cli;

/// <summary>Clusters of more than one machine: <c>corfu cluster init</c>, <c>corfu node init</c> and <c>corfu node
/// move</c>.</summary>
internal static class NodeInitCommands
{
    public static Command ClusterInit()
    {
        var (directory, listen, insecure) = Options();
        var certs = CertsOption();
        var command = new Command("init",
            "Make the first node of a cluster of several machines: unit, acceptor and sequencer. 'corfu node "
            + "--config' runs it.")
        {
            directory, listen, certs, insecure,
        };
        command.SetAction(async (result, cancellationToken) =>
        {
            var folder = result.GetRequiredValue(directory).FullName;
            var cluster = await NodeInit.FirstAsync(
                folder, ListenOf(result, listen, insecure, certs), cancellationToken: cancellationToken);
            return await DoneAsync(result, folder, cluster);
        });
        return command;
    }

    public static Command Init()
    {
        var (directory, listen, insecure) = Options();
        var certs = CertsOption();
        var join = new Option<string>("--join")
        {
            Description = "Any running node of the cluster.",
            HelpName = "HOST:PORT",
            Required = true
        };
        var roles = new Option<string>("--roles")
        {
            Description = "unit, acceptor and sequencer, separated by commas.",
            HelpName = "ROLES",
            DefaultValueFactory = _ => "unit,acceptor"
        };
        var command = new Command("init",
            "Make a node that joins a running cluster. Its unit waits as a spare until agents need it or 'corfu "
            + "reconfigure add-unit' takes it in.")
        {
            directory, join, roles, listen, certs, insecure,
        };
        command.SetAction(async (result, cancellationToken) =>
        {
            var folder = result.GetRequiredValue(directory).FullName;
            var cluster = await NodeInit.JoinAsync(
                folder, [Connections.EndpointOf(result.GetRequiredValue(join))],
                RolesOf(result.GetRequiredValue(roles)),
                ListenOf(result, listen, insecure, certs), cancellationToken: cancellationToken);
            return await DoneAsync(result, folder, cluster);
        });
        return command;
    }

    public static Command Move()
    {
        var (directory, listen, insecure) = Options();
        var peers = new Option<string[]>("--peer")
        {
            Description = "A running node of the cluster, where those that node.json names have moved too.",
            HelpName = "HOST:PORT",
        };
        var command = new Command("move",
            "Give a stopped node another address. Its data and identities stay; when it runs, the cluster follows. "
            + "Where the folder was copied to another machine, delete the copy that is left behind.")
        {
            directory, listen, insecure, peers,
        };
        command.SetAction(async (result, _) =>
        {
            var folder = result.GetRequiredValue(directory).FullName;
            var listens = result.GetRequiredValue(listen);
            var old = NodeMove.Run(folder, listens, result.GetValue(insecure),
                [.. (result.GetValue(peers) ?? []).Select(Connections.EndpointOf)]);
            var output = result.InvocationConfiguration.Output;
            await output.WriteLineAsync($"moved from {old} to {listens}");
            await output.WriteLineAsync($"corfu node --config {Path.Combine(folder, "node.json")}");
            return ExitCode.Ok;
        });
        return command;
    }

    private static ImmutableArray<INodeRole> RolesOf(string text) =>
    [
        .. text.Split(',', StringSplitOptions.TrimEntries).Select(word => NodeRoles.Log.Find(word)
            ?? throw new UsageException($"'{word}' is no role: unit, acceptor or sequencer.")).Distinct(),
    ];

    private static async Task<int> DoneAsync(ParseResult result, string folder, ClusterId cluster)
    {
        var output = result.InvocationConfiguration.Output;
        await output.WriteLineAsync($"cluster {cluster}");
        await output.WriteLineAsync($"corfu node --config {Path.Combine(folder, "node.json")}");
        return ExitCode.Ok;
    }

    private static NodeListen ListenOf(ParseResult result, Option<string> listen, Option<bool> insecure,
        Option<DirectoryInfo> certs) => new(result.GetRequiredValue(listen))
        {
            Insecure = result.GetValue(insecure),
            Certs = result.GetValue(certs)?.FullName,
        };

    private static Option<DirectoryInfo> CertsOption() => new("--certs")
    {
        Description = "The folder of the node's certificate ('corfu cert issue --role node'), which names the "
            + "cluster. It stays where it is, DIR/certs for example.",
        HelpName = "DIR",
    };

    private static (Option<DirectoryInfo> Directory, Option<string> Listen, Option<bool> Insecure) Options() => (
        CommonOptions.DirectoryOption("The node's folder."),
        new Option<string>("--listen")
        {
            Description = "The address that clients and nodes reach it under.",
            HelpName = "IP:PORT",
            Required = true
        },
        new Option<bool>("--insecure")
        { Description = "Accept an address other than loopback although connections are not encrypted yet." });
}
