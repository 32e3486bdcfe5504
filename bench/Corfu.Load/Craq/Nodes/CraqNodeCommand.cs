using System.CommandLine;
using Corfu.Hosting;
using Craq.Hosting;

namespace Corfu.Load;

/// <summary>A CRAQ node under load: the same as <c>corfu node</c>, with its counters in a file.</summary>
internal static class CraqNodeCommand
{
    public const string Name = "craq-node";

    public static Command Create()
    {
        var config = new Argument<FileInfo>("config");
        var command = new Command(Name, "A CRAQ node process; started by the other commands.") { config };
        command.Hidden = true;
        command.SetAction(async (result, cancellationToken) =>
        {
            var file = result.GetRequiredValue(config);
            using var counters = new NodeCounters(file.DirectoryName!);
            return await NodeRunner.RunAsync(file.FullName, Console.Out, CraqFolder.Roles, [], cancellationToken);
        });
        return command;
    }
}
