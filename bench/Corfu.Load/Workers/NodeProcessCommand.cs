using System.CommandLine;
using Corfu.Hosting;

namespace Corfu.Load;

/// <summary>A node of the cluster under load, when this program starts one itself: the same as <c>corfu
/// node</c>.</summary>
internal static class NodeProcessCommand
{
    public const string Name = "node";

    public static Command Create()
    {
        var config = new Argument<FileInfo>("config");
        var command = new Command(Name, "A node process; started by the other commands.") { config };
        command.Hidden = true;
        command.SetAction(
            (result, cancellationToken) => NodeRunner.RunAsync(result.GetRequiredValue(config).FullName, Console.Out,
                cancellationToken));
        return command;
    }
}
