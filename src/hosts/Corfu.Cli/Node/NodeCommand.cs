using Corfu.Operations;
using Craq.Hosting;
using Salus.Hosting;

namespace Corfu.Cli;

/// <summary><c>corfu node</c>: one node process, what <c>cluster up</c> starts.</summary>
internal static class NodeCommand
{
    public const string Name = "node";
    public const string ConfigOption = "--config";

    private static readonly NodeRoles s_roles = NodeRoles.Log.With(CraqNodeRole.Instance, SalusNodeRole.Instance);

    public static Command Create()
    {
        var config = new Option<FileInfo>(ConfigOption)
        {
            Description = "The node's configuration file (node.json).",
            HelpName = "FILE",
            Required = true,
        };
        var command = new Command(
            Name,
            "Run one node: the roles its configuration file names, behind one listener, until it is told to end "
            + "(SIGTERM, Ctrl-C).")
        {
            config,
            NodeInitCommands.Init(),
            NodeInitCommands.Move(),
            NodeReloadCommand.Create(),
        };
        command.SetAction((result, cancellationToken) => NodeRunner.RunAsync(
            result.GetRequiredValue(config).FullName, result.InvocationConfiguration.Output, s_roles,
            [new GrpcNodeFrontEnd(), new NbdFrontEnd(), new EtcdNodeFrontEnd(), new ZooKeeperNodeFrontEnd()],
            [new NodeOperations(new NodeConsole())], cancellationToken));
        return command;
    }
}
