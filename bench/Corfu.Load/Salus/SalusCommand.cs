using System.CommandLine;
using System.Globalization;

namespace Corfu.Load;

/// <summary><c>salus</c>: the figures of Salus' paper on this machine.</summary>
internal static class SalusCommand
{
    public static Command Create()
    {
        var rounds = LoadOptions.Positive("--rounds", "Rounds; the median of each figure counts.", 5);
        var seconds = LoadOptions.Positive("--seconds", "Length of one measurement.", 3);
        var section = new Option<string[]>("--section")
        {
            Description = "Only these sections; without it all of them.",
            AllowMultipleArgumentsPerToken = true,
            DefaultValueFactory = _ => [],
        };
        section.AcceptOnlyFromAmong(SalusPlan.All);
        var directory = new Option<DirectoryInfo?>("--dir", "-d")
        { Description = "Where the nodes keep their data (default: a temporary folder)." };
        var report = new Option<FileInfo?>("--report")
        { Description = "Write the report here too, in Markdown." };
        var command = new Command("salus",
            "Salus' figures: a volume of three copies beside one of a single copy and nbdkit's file plugin, the window "
            + "of the pipelined commit, bytes on the network, and the share of verification.")
        {
            rounds, seconds, section, directory, report,
        };
        command.SetAction((result, cancellationToken) => RunAsync(
            SalusPlan.Of(result.GetValue(rounds), result.GetValue(seconds), result.GetValue(section) ?? []),
            result.GetValue(directory), result.GetValue(report), cancellationToken));
        return command;
    }

    private static async Task<int> RunAsync(
        SalusPlan plan, DirectoryInfo? directory, FileInfo? file, CancellationToken cancellationToken)
    {
        using var folder = new WorkFolder(directory);
        Console.WriteLine($"salus: {RunInfo.Current.Machine}, commit {RunInfo.Current.Commit}");
        await using var nodes = await SalusNodes.StartAsync(
            Path.Combine(folder.Path, "nodes"), SalusPlan.Nodes, cancellationToken);
        List<FigureSection> sections = [];
        if (plan.Sections.Contains(SalusPlan.Attached))
            sections.Add(await AttachedSection.RunAsync(plan, nodes, folder.Path, cancellationToken));
        if (plan.Sections.Contains(SalusPlan.Pipeline))
            sections.Add(await PipelineSection.RunAsync(plan, nodes, folder.Path, cancellationToken));
        var arguments = string.Create(
            CultureInfo.InvariantCulture, $"--rounds {plan.Rounds} --seconds {plan.Seconds}");
        if (plan.Sections.Count < SalusPlan.All.Length) arguments += " --section " + string.Join(' ', plan.Sections);
        return await new FigureReport(RunInfo.Current, "salus", arguments, plan.Rounds, sections)
            .WriteAsync(file, cancellationToken);
    }
}

/// <summary>The extent of a run of <c>salus</c>.</summary>
/// <param name="Seconds">Length of one measurement.</param>
/// <param name="Sections">In the order of the report.</param>
internal sealed record SalusPlan(int Rounds, int Seconds, IReadOnlyList<string> Sections)
{
    public const string Attached = "attached";
    public const string Pipeline = "pipeline";

    /// <summary>Each kind of work runs so long before it is measured. In a profile of a node's first seconds the
    /// compiler had 70 % of the samples.</summary>
    public const int WarmUpSeconds = 10;

    /// <summary>Nodes of the volumes.</summary>
    public const int Nodes = 3;

    public static string[] All { get; } = [Attached, Pipeline];

    public static SalusPlan Of(int rounds, int seconds, IReadOnlyCollection<string> only) =>
        new(rounds, seconds, [.. All.Where(name => only.Count == 0 || only.Contains(name))]);
}
