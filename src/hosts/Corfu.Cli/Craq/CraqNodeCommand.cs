using Craq.Hosting;

namespace Corfu.Cli;

/// <summary><c>corfu craq node</c>.</summary>
internal static class CraqNodeCommand
{
    public static Command Create() => new("node", "Nodes on machines of their own.") { Init() };

    private static Command Init()
    {
        var directory = CommonOptions.DirectoryOption("The node's folder, new or empty.");
        var join = new Option<string>("--join")
        { Description = "Any running node of the log.", HelpName = "HOST:PORT", Required = true };
        var listen = new Option<string>("--listen")
        {
            Description = "The node's address, under which clients and nodes reach it.",
            HelpName = "IP:PORT",
            Required = true,
        };
        var datacenter = new Option<string>("--datacenter")
        {
            Description = "The node's datacenter, for placements and readers.",
            HelpName = "NAME",
            DefaultValueFactory = _ => CraqNodeSettings.DefaultDatacenter,
        };
        var memcached = new Option<string[]>("--memcached")
        {
            Description = "A listener for memcached's protocols: [ADDRESS:]PORT=MODE[@KEYSPACE].",
            HelpName = "11211=strong",
            DefaultValueFactory = _ => [],
        };
        var certs = new Option<DirectoryInfo?>("--certs")
        { Description = "The folder of the node's certificate ('corfu cert issue --role node').", HelpName = "DIR" };
        var insecure = new Option<bool>("--insecure")
        { Description = "Connections without TLS at an address other than loopback." };
        var command = new Command("init",
            "Make a node that joins a running log. 'corfu node --config DIR/node.json' runs it.")
        {
            directory, join, listen, datacenter, memcached, certs, insecure,
        };
        command.SetAction(async (result, cancellationToken) =>
        {
            var folder = result.GetRequiredValue(directory).FullName;
            var settings = new CraqNodeSettings
            {
                Datacenter = result.GetRequiredValue(datacenter),
                Memcached = [.. result.GetValue(memcached) ?? []],
            };
            await NodeInit.JoinAsync(folder, [Connections.EndpointOf(result.GetRequiredValue(join))],
                [CraqNodeRole.Instance],
                new NodeListen(result.GetRequiredValue(listen))
                {
                    Certs = result.GetValue(certs)?.FullName,
                    Insecure = result.GetValue(insecure),
                },
                ImmutableDictionary<string, System.Text.Json.JsonElement>.Empty.Add(
                    CraqNodeRole.Instance.Name, settings.ToJson()), cancellationToken);
            await result.InvocationConfiguration.Output.WriteLineAsync(
                $"Run it with 'corfu node --config {Path.Combine(folder, "node.json")}'.");
            return ExitCode.Ok;
        });
        return command;
    }
}
