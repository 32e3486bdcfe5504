using System.Globalization;
using Craq;
using Craq.Hosting;

namespace Corfu.Cli;

/// <summary><c>corfu craq up</c>.</summary>
internal static class CraqUpCommand
{
    private const string Description =
        """
        Start the CRAQ nodes in a folder, or make new ones there, with a log of their own in DIR/log unless --log names
        one. Nodes that run already are left alone; counts above today's add nodes. New nodes get the keyspace 'main'
        of 8 chains. Prints the connection strings of the nodes and of the log, and a table of the nodes.
        """;

    // Chains of the first keyspace: each node is the head of some.
    private const int MainChains = 8;

    private static readonly TimeSpan s_opening = TimeSpan.FromSeconds(20);
    private static readonly TimeSpan s_interval = TimeSpan.FromMilliseconds(100);

    public static Command Create()
    {
        var directory = CommonOptions.DirectoryOption("The nodes' folder.");
        var nodes = CommonOptions.NumberOption("--nodes", "Nodes, without --datacenters.", 3, 64);
        var replicas = CommonOptions.NumberOption(
            "--replicas", "Replicas of the chains of 'main' in each datacenter, as far as there are nodes.", 3, 64);
        var datacenters = new Option<string?>("--datacenters")
        {
            Description = "Nodes of each datacenter.",
            HelpName = "east:2,west:1",
        };
        var log = new Option<string?>("--log")
        {
            Description = "The log that coordinates the nodes (default: a new one in DIR/log).",
            HelpName = "corfu://HOST:PORT,...",
        };
        var memcached = new Option<string[]>("--memcached")
        {
            Description = "A listener of the first new node for memcached's protocols: [ADDRESS:]PORT=MODE"
                + "[@KEYSPACE] with the mode strong, eventual or bounded:N[:SECONDSs].",
            HelpName = "11211=strong",
            DefaultValueFactory = _ => [],
        };
        var tls = new Option<bool>("--tls")
        { Description = "Encrypted connections, with an authority of the nodes' own log. Kept by later runs." };
        var authority = new Option<DirectoryInfo?>("--ca")
        {
            Description = "The certificate authority of the log that --log names, if that has TLS: issues the nodes' "
                + "certificates.",
            HelpName = "DIR",
        };
        var json = CommonOptions.JsonOption();
        var command = new Command("up", Description)
        {
            directory, nodes, replicas, datacenters, log, memcached, tls, authority, json,
        };
        command.SetAction(async (result, cancellationToken) =>
        {
            var path = result.GetRequiredValue(directory).FullName;
            var self = NodeCommandLine.Self(NodeCommand.Name, NodeCommand.ConfigOption);
            var there = CraqFolder.Exists(path) ? CraqFolder.Open(path).Manifest : null;
            var isGiven = IsGiven(result, nodes) || IsGiven(result, datacenters);
            var counts = there is not null && !isGiven
                ? CountsOf(there)
                : CountsOf(result.GetValue(datacenters), result.GetValue(nodes));
            if (there is not null) RequireCounts(there, counts);
            var known = there?.Log;
            var connection = await OwnLog.StartAsync(
                path, known, result.GetValue(log), result.GetValue(tls), self, cancellationToken);
            var shape = new CraqShape(connection)
            {
                Datacenters = counts,
                Memcached = [.. result.GetValue(memcached) ?? []],
                Authority = result.GetValue(authority)?.FullName ?? OwnLog.AuthorityOf(path),
            };
            var (folder, problems) = await new ProcessCraq(self).UpAsync(path, shape, cancellationToken);
            var main = problems.IsEmpty ? PlacementOf(counts, result.GetValue(replicas)) : null;
            var overview = await ReadAsync(connection, main, cancellationToken);
            if (main is not null && IsGiven(result, replicas) && ReplicasProblem(overview, main) is { } kept)
                problems = problems.Add(kept);
            await CraqReport.WriteAsync(result.InvocationConfiguration.Output,
                folder.ConnectionString().ToString(), connection, overview, folder, result.GetValue(json));
            foreach (var problem in problems)
                await result.InvocationConfiguration.Error.WriteLineAsync(problem);
            return problems.IsEmpty ? ExitCode.Ok : ExitCode.Failed;
        });
        return command;
    }

    /// <summary>The directory; new nodes get their first keyspace.</summary>
    /// <param name="main">The placement of that; null: nodes are missing.</param>
    private static async Task<CraqOverview> ReadAsync(
        string connection, Placement? main, CancellationToken cancellationToken)
    {
        await using var client = await Connections.ConnectAsync(connection, cancellationToken);
        await using var admin = await CraqAdmin.OpenAsync(client, cancellationToken);
        var overview = await admin.ReadAsync(cancellationToken);
        if (main is null || !overview.Keyspaces.IsEmpty) return overview;
        await admin.CreateKeyspaceAsync(
            CraqConnections.MainKeyspace, MainChains, main, cancellationToken: cancellationToken);
        return await OpenedAsync(admin, cancellationToken);
    }

    // Chains open by themselves, a moment after their creation. The report says so if they do not.
    private static async Task<CraqOverview> OpenedAsync(CraqAdmin admin, CancellationToken cancellationToken)
    {
        var began = TimeProvider.System.GetTimestamp();
        while (true)
        {
            var overview = await admin.ReadAsync(cancellationToken);
            if (overview.Chains.All(chain => chain.IsRecordedOpen)
                || TimeProvider.System.GetElapsedTime(began) >= s_opening) return overview;
            await Task.Delay(s_interval, cancellationToken);
        }
    }

    private static bool IsGiven(ParseResult result, Option option) => result.GetResult(option) is { Implicit: false };

    private static ImmutableArray<(string Datacenter, int Nodes)> CountsOf(CraqManifest there) =>
        [.. there.Nodes.GroupBy(node => node.Datacenter).Select(own => (own.Key, own.Count()))];

    // Nodes of a folder may have chains: they are never taken away by a smaller number.
    private static void RequireCounts(
        CraqManifest there, ImmutableArray<(string Datacenter, int Nodes)> counts)
    {
        foreach (var own in there.Nodes.GroupBy(node => node.Datacenter))
        {
            var wanted = counts.Where(one => one.Datacenter == own.Key).Sum(one => one.Nodes);
            if (wanted < own.Count())
                throw new UsageException($"The folder has {own.Count()} nodes in the datacenter '{own.Key}', not "
                    + $"{wanted}, and 'up' takes none away: 'corfu craq drain' empties a node.");
        }
    }

    // Chains that are there keep their placement. Null: it is the one that is asked for.
    private static string? ReplicasProblem(CraqOverview overview, Placement wanted)
    {
        var first = $"{CraqConnections.MainKeyspace}-0";
        return overview.Chains.FirstOrDefault(chain => chain.Name == first) is not { } chain
            || SizesOf(chain.Placement).SequenceEqual(SizesOf(wanted))
            ? null
            : $"The chains of '{CraqConnections.MainKeyspace}' are there and keep their replicas: "
                + $"'corfu craq chain set -c LOG {first} --replicas N' changes one.";
    }

    private static IEnumerable<int> SizesOf(Placement placement) =>
        placement.Groups.IsEmpty ? [placement.Size] : placement.Groups.Select(group => group.Size);

    internal static ImmutableArray<(string Datacenter, int Nodes)> CountsOf(string? datacenters, int nodes)
    {
        if (datacenters is null) return [(CraqNodeSettings.DefaultDatacenter, nodes)];
        var counts = ImmutableArray.CreateBuilder<(string, int)>();
        foreach (var part in datacenters.Split(','))
        {
            var colon = part.LastIndexOf(':');
            if (colon < 1
                || !int.TryParse(part[(colon + 1)..], NumberStyles.None, CultureInfo.InvariantCulture, out var count)
                || count is < 1 or > 64)
                throw new UsageException(
                    $"'{part}' is no datacenter with a number from 1 to 64: write it as in east:2,west:1.");
            counts.Add((part[..colon], count));
        }

        return counts.DrainToImmutable();
    }

    private static Placement PlacementOf(ImmutableArray<(string Datacenter, int Nodes)> counts, int replicas) =>
        counts.Length == 1
            ? Placement.Implicit(1, Math.Min(replicas, counts[0].Nodes))
            : Placement.Sized([.. counts.Select(one =>
                new PlacementGroup(one.Datacenter, Math.Min(replicas, one.Nodes)))]);
}

/// <summary><c>corfu craq down</c>.</summary>
internal static class CraqDownCommand
{
    public static Command Create()
    {
        var directory = CommonOptions.DirectoryOption("The nodes' folder.");
        var command = new Command("down",
            "Stop the nodes of a folder, and their own log. Their data stays; 'craq up' continues from there.")
        {
            directory,
        };
        command.SetAction(async (result, cancellationToken) =>
        {
            var path = result.GetRequiredValue(directory).FullName;
            var self = NodeCommandLine.Self(NodeCommand.Name, NodeCommand.ConfigOption);
            var stopped = await new ProcessCraq(self).DownAsync(path, cancellationToken);
            stopped = stopped.AddRange(await OwnLog.StopAsync(path, self, cancellationToken));
            var output = result.InvocationConfiguration.Output;
            foreach (var node in stopped) await output.WriteLineAsync($"stopped {node}");
            if (stopped.IsEmpty) await output.WriteLineAsync("nothing was running");
            return ExitCode.Ok;
        });
        return command;
    }
}
