using System.CommandLine;
using NamespaceSample.App;
using NamespaceSample.Import;
using NamespaceSample.Model;
using NamespaceSample.Service;
using Spectre.Console;

namespace NamespaceSample.Cli;

/// <summary><c>import</c>: a directory of this machine.</summary>
internal static class ImportCommand
{
    private const int MaxImported = 100_000;

    public static Command Create()
    {
        var directory = new Argument<string>("DIR") { Description = "The directory whose entries are created." };
        var command = new Command("import",
            "Creates the files and directories of a directory, without .git, bin and obj. What is there already is "
            + "left as it is.")
        {
            directory,
        };
        var access = new NamespaceAccess(command);
        command.SetAction((parse, _) =>
        {
            string path = parse.GetRequiredValue(directory);
            if (Directory.Exists(path))
                return access.RunAsync(parse, (service, stop) => RunAsync(service, path, stop));
            Console.Error.WriteLine($"error: {path} is not a directory");
            return Task.FromResult(ExitCodes.Usage);
        });
        return command;
    }

    private static async Task<int> RunAsync(
        NamespaceService service, string directory, CancellationToken cancellationToken)
    {
        IReadOnlyList<NamespaceChange> changes = DirectoryReader.Read(directory, MaxImported);
        int there = 0;
        IAnsiConsole console = AnsiConsole.Console;
        if (console.Profile.Capabilities.Interactive)
        {
            await console.Progress().AutoClear(true).StartAsync(progress =>
            {
                ProgressTask bar = progress.AddTask("entries", maxValue: changes.Count);
                return ImportAsync(() => bar.Increment(1));
            });
        }
        else
        {
            await ImportAsync(() => { });
        }

        await Console.Out.WriteLineAsync($"imported={changes.Count - there} there={there}");
        return ExitCodes.Success;

        async Task ImportAsync(Action done)
        {
            foreach (NamespaceChange change in changes)
            {
                try
                {
                    await service.ChangeAsync(change, cancellationToken);
                }
                catch (NamespaceException e) when (e.Error == NamespaceError.Exists)
                {
                    there++;
                }

                done();
            }
        }
    }
}
