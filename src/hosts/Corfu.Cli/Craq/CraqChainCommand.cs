using System.Text.Json;
using Craq;
using Craq.Hosting;

namespace Corfu.Cli;

/// <summary><c>corfu craq chain</c>.</summary>
internal static class CraqChainCommand
{
    public static Command Create() => new("chain", "Chains: their placement, and how they are served.")
    {
        New(),
        List(),
        Show(),
        Set(),
        Drop(),
    };

    internal static Option<int> ReplicasOption() =>
        CommonOptions.NumberOption("--replicas", "Replicas, in each datacenter.", 3, ChainConfig.MaxMembers);

    internal static Option<string?> DatacentersOption() => new("--datacenters")
    {
        Description = "Datacenters of the chain in order, with their replicas where they differ (default: one, chosen "
            + "by hash).",
        HelpName = "east:2,west:1",
    };

    internal static Option<ValuePath?> ValuesOption() => new("--values")
    {
        Description = "chain: values go down the chain with their records; relay: values from 8 KiB go to all members "
            + "at once, along a tree.",
    };

    internal static Placement PlacementOf(string? datacenters, int replicas) => datacenters is null
        ? Placement.Implicit(1, replicas)
        : Placement.Sized([.. datacenters.Split(',').SelectMany(part =>
            CraqUpCommand.CountsOf(part.Contains(':') ? part : $"{part}:{replicas}", replicas))
            .Select(one => new PlacementGroup(one.Datacenter, one.Nodes))]);

    // A number alone keeps the chain in its datacenters.
    private static Placement Changed(Placement placement, string? datacenters, int? replicas)
    {
        if (replicas is < 1 or > ChainConfig.MaxMembers)
            throw new UsageException($"--replicas must be between 1 and {ChainConfig.MaxMembers}.");
        if (datacenters is not null) return PlacementOf(datacenters, replicas ?? placement.Size);
        if (replicas is not { } size) return placement;
        return placement.Groups.IsEmpty
            ? placement with { Size = size }
            : placement with { Groups = [.. placement.Groups.Select(group => group with { Size = size })] };
    }

    private static Argument<string> NameArgument() => new("name") { Description = "The chain's name." };

    private static Command New()
    {
        var (name, replicas, datacenters) = (NameArgument(), ReplicasOption(), DatacentersOption());
        var (values, json) = (ValuesOption(), CommonOptions.JsonOption());
        return CraqConnections.WithAdmin("create", "Create a chain of replicas for objects.",
            [name, replicas, datacenters, values, json], async (admin, result, cancellationToken) =>
            {
                var chain = await admin.CreateChainAsync(result.GetRequiredValue(name),
                    PlacementOf(result.GetValue(datacenters), result.GetValue(replicas)),
                    ChainOptions.Default with { Values = result.GetValue(values) ?? ValuePath.Chain },
                    cancellationToken);
                return await WriteAsync(result, chain, result.GetValue(json));
            });
    }

    private static Command List()
    {
        var json = CommonOptions.JsonOption();
        return CraqConnections.WithAdmin("list", "List the chains.", [json],
            async (admin, result, cancellationToken) =>
            {
                await CraqReport.WriteChainsAsync(result.InvocationConfiguration.Output,
                    await admin.ReadAsync(cancellationToken), result.GetValue(json));
                return ExitCode.Ok;
            });
    }

    private static Command Show()
    {
        var (name, json) = (NameArgument(), CommonOptions.JsonOption());
        return CraqConnections.WithAdmin("show", "Show one chain.", [name, json],
            async (admin, result, cancellationToken) =>
            {
                var wanted = result.GetRequiredValue(name);
                var overview = await admin.ReadAsync(cancellationToken);
                var chain = overview.Chains.FirstOrDefault(one => one.Name == wanted)
                    ?? throw new CraqRefusedException(
                        $"There is no chain '{wanted}': 'corfu craq chain list' lists the chains.");
                return await WriteAsync(result, chain, result.GetValue(json));
            });
    }

    private static Command Set()
    {
        var (name, datacenters) = (NameArgument(), DatacentersOption());
        var replicas = new Option<int?>("--replicas") { Description = "Replicas, in each datacenter.", HelpName = "N" };
        var protocol = new Option<ChainProtocol?>("--protocol")
        { Description = "craq: every replica answers reads; cr: the tail alone." };
        var reads = new Option<EpochProof?>("--reads")
        {
            Description = "confirmed: other members confirm a strong read; leased: the node's lease does, so that "
                + "clean reads are local and a lost node delays writes until its lease ends.",
        };
        var (values, json) = (ValuesOption(), CommonOptions.JsonOption());
        return CraqConnections.WithAdmin("set", "Change how a chain is placed and served, while it runs.",
            [name, replicas, datacenters, protocol, reads, values, json], async (admin, result, cancellationToken) =>
            {
                var chain = await admin.SetChainAsync(result.GetRequiredValue(name), config =>
                    (Changed(config.Placement, result.GetValue(datacenters), result.GetValue(replicas)),
                        config.Options with
                        {
                            Protocol = result.GetValue(protocol) ?? config.Options.Protocol,
                            Reads = result.GetValue(reads) ?? config.Options.Reads,
                            Values = result.GetValue(values) ?? config.Options.Values,
                        }), cancellationToken);
                return await WriteAsync(result, chain, result.GetValue(json));
            });
    }

    private static Command Drop()
    {
        var name = NameArgument();
        return CraqConnections.WithAdmin("drop",
            "Drop a chain with all its objects, for good. Its name is never used again.", [name],
            async (admin, result, cancellationToken) =>
            {
                await admin.DropChainAsync(result.GetRequiredValue(name), cancellationToken);
                await result.InvocationConfiguration.Output.WriteLineAsync("dropped");
                return ExitCode.Ok;
            });
    }

    private static async Task<int> WriteAsync(ParseResult result, ChainConfig chain, bool json)
    {
        var output = result.InvocationConfiguration.Output;
        if (json)
            await output.WriteLineAsync(JsonSerializer.Serialize(
                CraqChainJson.Of(chain), CraqCliJson.Indented.CraqChainJson));
        else await CraqReport.WriteChainsAsync(output, new CraqOverview([], [chain], []), false);
        return ExitCode.Ok;
    }
}

/// <summary><c>corfu craq keyspace</c>.</summary>
internal static class CraqKeyspaceCommand
{
    public static Command Create() => new("keyspace", "Keyspaces: a key's hash says its chain.") { New(), Drop() };

    private static Command New()
    {
        var name = new Argument<string>("name") { Description = "The keyspace's name." };
        var chains = CommonOptions.NumberOption("--chains", "Chains, a power of two; they never change.", 8, 1024);
        var (replicas, datacenters) = (CraqChainCommand.ReplicasOption(), CraqChainCommand.DatacentersOption());
        return CraqConnections.WithAdmin("create", "Create a keyspace over new chains, NAME-0 and so on.",
            [name, chains, replicas, datacenters], async (admin, result, cancellationToken) =>
            {
                var view = await admin.CreateKeyspaceAsync(result.GetRequiredValue(name), result.GetValue(chains),
                    CraqChainCommand.PlacementOf(result.GetValue(datacenters), result.GetValue(replicas)),
                    cancellationToken: cancellationToken);
                await result.InvocationConfiguration.Output.WriteLineAsync(
                    $"keyspace {view.Name} of {view.Chains.Length} chains");
                return ExitCode.Ok;
            });
    }

    private static Command Drop()
    {
        var name = new Argument<string>("name") { Description = "The keyspace's name." };
        return CraqConnections.WithAdmin("drop", "Drop a keyspace. Its chains and their objects stay.", [name],
            async (admin, result, cancellationToken) =>
            {
                await admin.DropKeyspaceAsync(result.GetRequiredValue(name), cancellationToken);
                await result.InvocationConfiguration.Output.WriteLineAsync("dropped");
                return ExitCode.Ok;
            });
    }
}
