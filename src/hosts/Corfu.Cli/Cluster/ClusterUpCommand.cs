using System.Net;

namespace Corfu.Cli;

/// <summary><c>corfu cluster up</c>.</summary>
internal static class ClusterUpCommand
{
    private const string Description =
        """
        Start the cluster in a folder, or make a new one there. Processes that run already are left alone, so this also
        brings a cluster back after any of its processes, or all of them, were killed. --units, --spares and
        --sequencers above today's numbers add nodes. A node that cannot start keeps no other from starting: standard
        error says why and what to do. Waits until the cluster serves, then prints the connection string, the
        addresses that serve gRPC, ZooKeeper's protocol and etcd v3, if any, and a table of its processes. Exit code 0
        if the cluster serves, else 1.
        """;

    public static Command Create()
    {
        var directory = CommonOptions.DirectoryOption();
        var json = CommonOptions.JsonOption();
        var units = Number("--units", "Storage units that take entries (new cluster: 3).");
        var replicas = Number("--replicas", "Replicas of every entry (new cluster: 2).");
        var spares = Number("--spares", "Units that wait to take the place of one that fails (new cluster: 0).");
        var sequencers = Number("--sequencers",
            "Sequencers: one serves, the others stand by (new cluster: 1).");
        var colocate = new Option<bool>("--colocate")
        {
            Description = "A new cluster's sequencers run in the processes of its units, one in each. A machine has "
                + "fewer processes then; such a unit and its sequencer fail together.",
        };
        var manual = new Option<bool>("--manual")
        {
            Description =
                "A new cluster's agents report failures and never reconfigure on their own ('corfu reconfigure auto "
                + "on' lets them).",
        };
        var host = new Option<string>("--host")
        {
            Description = "Address that a new cluster's nodes listen on.",
            HelpName = "IP",
            DefaultValueFactory = _ => "127.0.0.1",
        };
        var port = new Option<int?>("--port")
        { Description = "First of a new cluster's consecutive ports (default: free ones).", HelpName = "P" };
        var insecure = new Option<bool>("--insecure")
        {
            Description = "Connections without TLS at an address other than loopback: anyone on the network can read, "
                + "append and reconfigure.",
        };
        var tls = new Option<bool>("--tls")
        {
            Description = "Encrypt and authenticate connections, as at every address but loopback: an authority in "
                + "DIR/ca issues certificates to the nodes, an administrator and a client.",
        };
        var grpc = new Option<bool>("--grpc")
        {
            Description = "Serve gRPC too: every node gets a second port for it, and keeps it.",
        };
        var grpcAllow = new Option<string[]>("--grpc-allow")
        {
            Description =
                "What callers of the gRPC ports that --grpc makes may do beside reading and appending: admin, trims, "
                + "objects. Nothing authenticates them.",
            AllowMultipleArgumentsPerToken = true,
        };
        grpcAllow.AcceptOnlyFromAmong("admin", "trims", "objects");
        var zooKeeper = new Option<bool>("--zookeeper")
        {
            Description = "Serve ZooKeeper's protocol too: every node gets a port for it, and keeps it. All serve one "
                + "tree.",
        };
        var etcd = new Option<bool>("--etcd")
        {
            Description = "Serve etcd v3 too, gRPC and JSON: every node gets a port for it, and keeps it. All serve "
                + "one store.",
        };
        var command = new Command("up", Description) { directory, units, replicas, spares, sequencers, colocate, manual,
            host, port, tls, insecure, grpc, grpcAllow, zooKeeper, etcd, json };
        command.SetAction((result, cancellationToken) =>
        {
            var folder = result.GetRequiredValue(directory).FullName;
            var now = ShapeOf(folder);
            var shape = now with
            {
                Units = result.GetValue(units) ?? now.Units,
                Replicas = result.GetValue(replicas) ?? now.Replicas,
                Spares = result.GetValue(spares) ?? now.Spares,
                Sequencers = result.GetValue(sequencers) ?? now.Sequencers,
                TakeUnitsIn = result.GetValue(units) is not null,
                Colocate = result.GetValue(colocate),
                Automatic = !result.GetValue(manual),
                Host = result.GetValue(host)!,
                Port = result.GetValue(port),
                FrontEnds = [.. FrontEndsOf(
                    result.GetValue(grpc), result.GetValue(grpcAllow), result.GetValue(zooKeeper),
                    result.GetValue(etcd))],
                Insecure = result.GetValue(insecure),
                Tls = result.GetValue(tls) || (!result.GetValue(insecure) && !IsLoopback(result.GetValue(host)!)),
            };
            return RunAsync(folder, shape, result, result.GetValue(json), cancellationToken);
        });
        return command;
    }

    /// <summary>A command that adds nodes to an existing cluster.</summary>
    public static Command CreateAdd(string name, string description, Func<ClusterShape, int, ClusterShape> add)
    {
        var directory = CommonOptions.DirectoryOption();
        var json = CommonOptions.JsonOption();
        var count = new Option<int>("--count")
        {
            Description = "How many.",
            HelpName = "N",
            DefaultValueFactory = _ => 1
        };
        var command = new Command(name, description) { directory, count, json };
        command.SetAction((result, cancellationToken) =>
        {
            var folder = result.GetRequiredValue(directory).FullName;
            if (result.GetValue(count) < 1)
                throw new UsageException($"--count must be at least 1, not {result.GetValue(count)}.");
            ClusterFolder.Open(folder);
            return RunAsync(folder, add(ShapeOf(folder), result.GetValue(count)), result, result.GetValue(json),
                cancellationToken);
        });
        return command;
    }

    private static IEnumerable<FrontEndShape> FrontEndsOf(bool grpc, string[]? grpcAllow, bool zooKeeper, bool etcd)
    {
        if (grpc) yield return new FrontEndShape(GrpcNodeFrontEnd.KindName) { Allow = [.. grpcAllow ?? []] };
        if (zooKeeper) yield return new FrontEndShape(ZooKeeperNodeFrontEnd.KindName);
        if (etcd) yield return new FrontEndShape(EtcdNodeFrontEnd.KindName);
    }

    private static ClusterShape ShapeOf(string folder)
    {
        if (!ClusterFolder.Exists(folder)) return new ClusterShape();
        var manifest = ClusterFolder.Open(folder).Manifest;
        var (units, spares, sequencers) = manifest.Counts();
        return new ClusterShape
        {
            Units = units,
            Replicas = manifest.Replicas,
            Spares = spares,
            Sequencers = sequencers
        };
    }

    private static async Task<int> RunAsync(
        string folder, ClusterShape shape, ParseResult result, bool json, CancellationToken cancellationToken)
    {
        if (shape.Faults() is { Count: > 0 } faults) throw new UsageException(string.Join(Environment.NewLine, faults));
        var cluster = new ProcessCluster(NodeCommandLine.Self(NodeCommand.Name, NodeCommand.ConfigOption));
        var state = await cluster.UpAsync(folder, shape, cancellationToken);
        await ClusterReport.WriteAsync(result.InvocationConfiguration.Output, state, json);
        foreach (var problem in state.Problems) await result.InvocationConfiguration.Error.WriteLineAsync(problem);
        return state.Verdict.IsServing ? ExitCode.Ok : ExitCode.Failed;
    }

    private static bool IsLoopback(string host) =>
        host == "localhost" || (IPAddress.TryParse(host, out var address) && IPAddress.IsLoopback(address));

    private static Option<int?> Number(string name, string description) =>
        new(name) { Description = description, HelpName = "N" };
}
