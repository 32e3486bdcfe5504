using Salus.Hosting;

namespace Corfu.Cli;

/// <summary><c>corfu salus node</c>.</summary>
internal static class SalusNodeCommand
{
    public static Command Create() => new("node", "Nodes on machines of their own.") { Init(), Forget() };

    private static Command Init()
    {
        var directory = CommonOptions.DirectoryOption("The node's folder, new or empty.");
        var join = new Option<string>("--join")
        { Description = "Any running node of the log.", HelpName = "HOST:PORT", Required = true };
        var listen = new Option<string>("--listen")
        {
            Description = "The node's address, under which drivers and nodes reach it.",
            HelpName = "IP:PORT",
            Required = true,
        };
        var domain = new Option<string>("--domain")
        {
            Description = "Machines that fail together have the same, a rack for instance: copies of a region are in "
                + "different ones. Default: the machine fails alone.",
            HelpName = "NAME",
            DefaultValueFactory = _ => "",
        };
        var certs = new Option<DirectoryInfo?>("--certs")
        { Description = "The folder of the node's certificate ('corfu cert issue --role node').", HelpName = "DIR" };
        var insecure = new Option<bool>("--insecure")
        { Description = "Connections without TLS at an address other than loopback." };
        var command = new Command("init",
            "Make a node that joins a running log. 'corfu node --config DIR/node.json' runs it.")
        {
            directory, join, listen, domain, certs, insecure,
        };
        command.SetAction(async (result, cancellationToken) =>
        {
            var folder = result.GetRequiredValue(directory).FullName;
            var settings = new SalusNodeSettings { Domain = result.GetRequiredValue(domain) };
            await NodeInit.JoinAsync(folder, [Connections.EndpointOf(result.GetRequiredValue(join))],
                [SalusNodeRole.Instance],
                new NodeListen(result.GetRequiredValue(listen))
                {
                    Certs = result.GetValue(certs)?.FullName,
                    Insecure = result.GetValue(insecure),
                },
                ImmutableDictionary<string, System.Text.Json.JsonElement>.Empty.Add(
                    SalusNodeRole.Instance.Name, settings.ToJson()), cancellationToken);
            await result.InvocationConfiguration.Output.WriteLineAsync(
                $"Run it with 'corfu node --config {Path.Combine(folder, "node.json")}'.");
            return ExitCode.Ok;
        });
        return command;
    }

    private static Command Forget()
    {
        var store = new Argument<string>("store") { Description = "The store, as 'salus status' shows it." };
        return SalusConnections.WithLog("forget",
            "Drop a node that will never come back from the book of nodes. Its store's data counts as lost.", [store],
            async (salus, result, cancellationToken) =>
            {
                var text = result.GetRequiredValue(store);
                var nodes = await salus.Admin.NodesAsync(cancellationToken);
                var found = nodes.Stores.Values.Where(node => node.Store.ToString() == text
                    || node.Store.Value.ToString("D") == text).ToList();
                if (found.Count != 1)
                    throw new UsageException(found.Count == 0
                        ? $"There is no store {text}: 'corfu salus status' shows the stores."
                        : $"{found.Count} stores begin with {text}: give the whole identity, as --json shows it.");
                await salus.Admin.ForgetStoreAsync(found[0].Store, cancellationToken);
                await result.InvocationConfiguration.Output.WriteLineAsync("forgotten");
                return ExitCode.Ok;
            });
    }
}
