using System.CommandLine;
using System.Net.Sockets;
using Corfu;
using Corfu.Hosting;
using NamenodeSample.Run;
using NamenodeSample.Serving;
using NamenodeSample.Tree;
using Tango;

namespace NamenodeSample;

/// <summary>The command line.</summary>
public static class NamenodeCommand
{
    private const string Description =
        """
        A file system's namenode, with backups: the namespace is in memory, its edits and images are in ledgers. Clients
        change it while the active namenode is killed or stopped. Nothing that was acknowledged is lost.
        """;

    /// <returns>0; 1: the namespace is wrong, or the run could not go on; 2: wrong arguments; 130: stopped by a
    /// signal.</returns>
    public static Task<int> InvokeAsync(string[] args, TextWriter errors) => SampleCommand.InvokeAsync(
        Create(), args, errors,
        static e => e is CorfuException or TangoException or ChildProcessException or NodeStartException
            or RunException or JournalException or IOException
            or SocketException);

    private static RootCommand Create()
    {
        Option<int> operations = SampleCommand.Count(
            "--operations", 0, "Operations of all clients together. Default 0: 200 for each fault, and 200 more.", 0);
        Option<int> kills = SampleCommand.Count(
            "--kills", 0, "How often the active namenode is killed. Default 1.", 1);
        Option<int> stops = SampleCommand.Stops(
            "How often the active namenode is stopped, and comes back when another has taken over.");
        Option<int> clients = SampleCommand.Count("--clients", 1, "Clients. Default 8.", 8);
        Option<int> lease = SampleCommand.Count(
            "--lease", 500,
            "Milliseconds without a sign of life after which the active loses its lease. Default 2,000.", 2_000);
        Option<int> seed = SampleCommand.Count("--seed", 0, "Chooses the operations. Default 1.", 1);
        var root = new RootCommand(Description)
        {
            operations, kills, stops, clients, lease, seed, NodeMode.CreateCommand(), NamenodeMode.CreateCommand(),
            ServeMode.CreateCommand(lease),
        };
        root.SetAction(async (parse, cancellationToken) =>
        {
            int faults = parse.GetValue(kills) + parse.GetValue(stops);
            int count = parse.GetValue(operations);
            var plan = new RunPlan(count == 0 ? 200 * (faults + 1) : count, parse.GetValue(kills),
                parse.GetValue(stops), parse.GetValue(clients), parse.GetValue(seed),
                TimeSpan.FromMilliseconds(parse.GetValue(lease)));
            await using var cluster = new ClusterProcesses("namenode");
            await cluster.UpAsync(cancellationToken);
            await using var run = new NamenodeRun(plan, cluster.ConnectionString);
            return await run.RunAsync(cancellationToken) ? SampleCommand.Success : SampleCommand.Wrong;
        });
        return root;
    }
}
