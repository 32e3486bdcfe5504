using System.CommandLine;
using NamespaceSample.App;
using NamespaceSample.Shell;

namespace NamespaceSample.Cli;

/// <summary><c>shell</c>: commands by a person or from a pipe.</summary>
internal static class ShellCommand
{
    public static Command Create()
    {
        var command = new Command("shell",
            "Commands on the namespace, by a person or from a pipe: mkdir, create, write, attr, mv, rm, ls, tree, "
            + "stat, watch. From a pipe the exit code is 1 if one of them failed.");
        var access = new NamespaceAccess(command);
        command.SetAction((parse, _) => access.RunAsync(parse, async (service, stop) =>
        {
            bool isPerson = !Console.IsInputRedirected;
            int failed = await new NamespaceShell(service, Console.In, Console.Out, isPerson, TimeProvider.System)
                .RunAsync(stop);
            return isPerson || failed == 0 ? ExitCodes.Success : ExitCodes.Failed;
        }));
        return command;
    }
}
