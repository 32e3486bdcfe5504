using System.CommandLine;
using Corfu.Hosting;

namespace Corfu.Cli;

/// <summary><c>corfu cluster up</c>.</summary>
internal static class ClusterUpCommand
{
    private const string Description =
        """
        Start the cluster in a folder, or make a new one there. Processes that run already are left alone, so this also brings a
        cluster back after any of its processes, or all of them, were killed. Waits until the cluster serves, then prints the connection
        string and a table of its processes.
        """;

    public static Command Create()
    {
        var directory = ClusterCommand.DirectoryOption();
        var json = ClusterCommand.JsonOption();
        var units = new Option<int>("--units") { Description = "Storage units.", HelpName = "N", DefaultValueFactory = _ => 3 };
        var replicas = new Option<int>("--replicas") { Description = "Replicas of every entry.", HelpName = "N", DefaultValueFactory = _ => 2 };
        var spares = new Option<int>("--spares") { Description = "Units that run without being in a chain.", HelpName = "N" };
        var sequencers = new Option<int>("--sequencers")
        {
            Description = "Sequencer processes: one serves, the others stand by.",
            HelpName = "N",
            DefaultValueFactory = _ => 1,
        };
        var manual = new Option<bool>("--manual") { Description = "Agents look and report but never reconfigure on their own ('corfu reconfigure auto on' lets them)." };
        var host = new Option<string>("--host") { Description = "Address that all nodes listen on.", HelpName = "IP", DefaultValueFactory = _ => "127.0.0.1" };
        var port = new Option<int?>("--port") { Description = "First of consecutive ports; without it free ones are looked for.", HelpName = "P" };
        var insecure = new Option<bool>("--insecure") { Description = "Accept an address other than loopback although connections are not encrypted yet." };
        var command = new Command("up", Description) { directory, units, replicas, spares, sequencers, manual, host, port, insecure, json };
        command.SetAction(async (result, cancellationToken) =>
        {
            var folder = result.GetRequiredValue(directory).FullName;
            var shape = new ClusterShape
            {
                Units = result.GetValue(units),
                Replicas = result.GetValue(replicas),
                Spares = result.GetValue(spares),
                Sequencers = result.GetValue(sequencers),
                Automatic = !result.GetValue(manual),
                Host = result.GetValue(host)!,
                Port = result.GetValue(port),
                Insecure = result.GetValue(insecure),
            };
            // An existing cluster keeps its shape; only a contradiction spelled out on the command line is one.
            if (ClusterFolder.Exists(folder))
            {
                var manifest = ClusterFolder.Open(folder).Manifest;
                if (result.GetResult(units) is null or { Implicit: true }) shape = shape with { Units = manifest.ChainUnits().Length };
                if (result.GetResult(replicas) is null or { Implicit: true }) shape = shape with { Replicas = manifest.Replicas };
            }

            if (shape.Faults() is { Count: > 0 } faults) throw new UsageException(string.Join(Environment.NewLine, faults));
            var cluster = new ProcessCluster(NodeCommandLine.Self(NodeCommand.Name, NodeCommand.ConfigOption));
            var state = await cluster.UpAsync(folder, shape, cancellationToken);
            await ClusterReport.WriteAsync(result.InvocationConfiguration.Output, state, result.GetValue(json));
            return state.Writable ? ExitCode.Ok : ExitCode.Failed;
        });
        return command;
    }
}
