using System.CommandLine;
using System.Net;
using Corfu.Hosting;
using Salus.Hosting;

namespace Corfu.Load;

/// <summary>Processes that the command starts: nodes, and the server of volumes.</summary>
internal static class SalusNodeCommands
{
    public const string Node = "salus-node";
    public const string Serve = "salus-serve";

    public static Command CreateNode()
    {
        var config = new Argument<FileInfo>("config");
        var command = new Command(Node, "A Salus node process; started by the other commands.") { config };
        command.Hidden = true;
        command.SetAction((result, cancellationToken) => NodeRunner.RunAsync(
            result.GetRequiredValue(config).FullName, Console.Out, SalusFolder.Roles, [], cancellationToken));
        return command;
    }

    /// <summary>Serves volumes over NBD until the input ends; prints the port.</summary>
    public static Command CreateServe()
    {
        var connect = new Argument<string>("connect");
        var volumes = new Argument<string[]>("volumes");
        var command = new Command(Serve, "A server of volumes; started by the other commands.") { connect, volumes };
        command.Hidden = true;
        command.SetAction(async (result, cancellationToken) =>
        {
            await using var server = await VolumeServer.StartAsync(new VolumeServerOptions(
                result.GetRequiredValue(connect), [.. result.GetRequiredValue(volumes)],
                new IPEndPoint(IPAddress.Loopback, 0)), cancellationToken);
            await Console.Out.WriteLineAsync($"{server.EndPoint.Port}");
            await Console.In.ReadLineAsync(cancellationToken);
            return 0;
        });
        return command;
    }
}
