using System.CommandLine;
using NamespaceSample.App;
using NamespaceSample.History;
using NamespaceSample.Replay;
using Spectre.Console;

namespace NamespaceSample.Cli;

/// <summary><c>replay</c>: a recorded history, change by change.</summary>
internal static class ReplayCommand
{
    private const string Description =
        """
        Applies the changes of a real file tree's history by processes: a cluster, a host for each partition, a
        replayer. Each change is one transaction that also commits how far the replay is. At the end a fresh process
        compares the namespace, from a checkpoint, with what the history comes to.
        """;

    public static Option<string> HistoryOption() => new("--history")
    {
        Description = "The history, plain or gzip: 'T id time', then A, M, T, D path, or R, C from to.",
        HelpName = "FILE",
        Required = true,
    };

    public static Option<string?> ExpectOption() => new("--expect")
    {
        Description = "The paths at the end, one a line, plain or gzip.",
        HelpName = "FILE",
    };

    public static Command Create()
    {
        Option<string> history = HistoryOption();
        Option<string?> expect = ExpectOption();
        var kills = new Option<int?>("--kills")
        {
            Description = "Kill this many processes (replayers, hosts, nodes of the cluster) and start them again.",
            HelpName = "N",
        };
        var command = new Command("replay", Description) { history, expect, kills };
        kills.Validators.Add(result =>
        {
            if (result.Tokens is [{ Value: var text }] && int.TryParse(text, out int count) && count < 0)
                result.AddError("--kills must not be negative.");
        });
        command.SetAction((parse, _) => Launcher.RunAsync(stop => RunAsync(
            parse.GetRequiredValue(history), parse.GetValue(expect), parse.GetValue(kills), stop)));
        return command;
    }

    private static async Task<int> RunAsync(
        string history, string? expect, int? kills, CancellationToken cancellationToken)
    {
        IReadOnlyList<HistoryChange> changes = HistoryReader.ReadFile(history);
        // A malformed history is reported before anything starts.
        HistoryModel.Play(history, changes);
        if (expect is not null) HistoryReader.ReadPaths(expect);
        IAnsiConsole console = AnsiConsole.Console;
        ReplayReport report = console.Profile.Capabilities.Interactive
            ? await console.Progress().AutoClear(true).StartAsync(progress => RunAsync(
                new ReplayDisplay(Console.Out, changes.Count, progress.AddTask("changes", maxValue: changes.Count))))
            : await RunAsync(new ReplayDisplay(Console.Out, changes.Count, null));
        await Console.Out.WriteLineAsync(report.Speed);
        await Console.Out.WriteLineAsync(report.ToString());
        return report.IsMatch ? ExitCodes.Success : ExitCodes.Failed;

        async Task<ReplayReport> RunAsync(ReplayDisplay display)
        {
            await using var run = new ReplayRun(
                Path.GetFullPath(history), expect is null ? null : Path.GetFullPath(expect), kills, changes.Count,
                display);
            return await run.RunAsync(cancellationToken);
        }
    }
}
