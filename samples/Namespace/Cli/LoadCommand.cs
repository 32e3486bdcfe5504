using System.CommandLine;
using NamespaceSample.App;
using NamespaceSample.Import;
using NamespaceSample.Load;
using NamespaceSample.Model;
using NamespaceSample.Service;
using Spectre.Console;
using Tango;

namespace NamespaceSample.Cli;

/// <summary>The program without a command: imports a directory, lets three clients change it, and checks
/// itself.</summary>
internal static class LoadCommand
{
    private const int DefaultChanges = 300;
    private const int MaxImported = 1000;

    public static void AddTo(RootCommand root)
    {
        var changes = new Option<int>("--changes")
        {
            Description = "Changes that each of the three clients makes.",
            HelpName = "N",
            DefaultValueFactory = _ => DefaultChanges,
        };
        var seed = new Option<int>("--seed") { Description = "Of the clients' choices.", HelpName = "N" };
        changes.Validators.Add(result =>
        {
            if (result.Tokens is [{ Value: var text }] && int.TryParse(text, out int count) && count < 1)
                result.AddError("--changes must be at least 1.");
        });
        root.Options.Add(changes);
        root.Options.Add(seed);
        root.SetAction((parse, _) =>
            Launcher.RunAsync(stop => RunAsync(parse.GetValue(changes), parse.GetValue(seed), stop)));
    }

    private static async Task<int> RunAsync(int changes, int seed, CancellationToken cancellationToken)
    {
        string directory = Directory.GetCurrentDirectory();
        IReadOnlyList<NamespaceChange> start = DirectoryReader.Read(directory, MaxImported);
        int total = start.Count + changes * LoadRun.Clients;
        await using LogSource source = await LogSource.OpenAsync(null, null, cancellationToken);
        await Console.Out.WriteLineAsync(
            $"{source.Description}: {start.Count:N0} files and directories of {directory}, then {changes:N0} changes "
            + $"by each of {LoadRun.Clients} clients");
        await using var run = new LoadRun(
            async token => new TangoRuntime(await source.ConnectAsync(token), NamespaceService.Options), seed);
        int made = 0;
        IAnsiConsole console = AnsiConsole.Console;
        LoadReport report = console.Profile.Capabilities.Interactive
            ? await console.Progress().AutoClear(true).StartAsync(progress =>
            {
                ProgressTask bar = progress.AddTask("changes", maxValue: total);
                return run.RunAsync(start, changes, () => bar.Value = Interlocked.Increment(ref made),
                    cancellationToken);
            })
            : await run.RunAsync(start, changes, () => Interlocked.Increment(ref made), cancellationToken);
        await Console.Out.WriteLineAsync(
            $"{run.Refused:N0} changes were refused: another client had changed what they were about");
        if (report.Difference is not null) await Console.Out.WriteLineAsync($"wrong: {report.Difference}");
        await Console.Out.WriteLineAsync(report.ToString());
        return report.IsMatch ? ExitCodes.Success : ExitCodes.Failed;
    }
}
