using System.CommandLine;
using System.Globalization;
using Corfu.Load.Suite;

namespace Corfu.Load;

/// <summary>A command that measures a service of the log, in sections.</summary>
internal static class ServiceCommand
{
    private const double FullSeconds = 2;
    private const double MinSeconds = 0.1;
    private const double MaxSeconds = 3600;
    private const int MaxRounds = 1000;
    private const int Interrupted = 130;

    // A new process of .NET runs slow code for some seconds; one of Go or C does not.
    private static readonly TimeSpan s_warmUp = TimeSpan.FromSeconds(4);

    public static Command Create(string name, string description, params IReadOnlyList<ServiceSection> sections)
    {
        var rounds = new Option<int?>("--rounds")
        {
            Description = $"Rounds; the median of each figure counts (default: {SuiteSettings.FullRounds}; quick: 1).",
            HelpName = "N",
        };
        rounds.Validators.Add(result =>
        {
            if (result.GetValueOrDefault<int?>() is < 1 or > MaxRounds)
                result.AddError($"--rounds must be from 1 to {MaxRounds}.");
        });
        var seconds = new Option<double?>("--seconds")
        {
            Description = string.Create(CultureInfo.InvariantCulture,
                $"Length of one measurement (default: {FullSeconds}; quick: {SuiteSettings.QuickSeconds})."),
            HelpName = "S",
        };
        seconds.Validators.Add(result =>
        {
            // NaN is neither below nor above a bound.
            if (result.GetValueOrDefault<double?>() is { } value && value is not (>= MinSeconds and <= MaxSeconds))
                result.AddError(string.Create(CultureInfo.InvariantCulture,
                    $"--seconds must be from {MinSeconds} to {MaxSeconds}."));
        });
        var quick = new Option<bool>("--quick")
        { Description = "One short round of fewer points: shows that everything runs. Its figures say little." };
        var only = new Option<string[]>("--section")
        {
            Description = "Only these sections; without it all of them.",
            AllowMultipleArgumentsPerToken = true,
            DefaultValueFactory = _ => [],
        };
        only.AcceptOnlyFromAmong([.. sections.Select(section => section.Name)]);
        var directory = new Option<DirectoryInfo?>("--dir", "-d")
        { Description = "Where the clusters' files go (default: a temporary folder)." };
        var report = new Option<FileInfo?>("--report")
        { Description = "Write the report here too, in Markdown." };
        report.Validators.Add(result =>
        {
            if (result.GetValueOrDefault<FileInfo?>() is { Directory: { Exists: false } folder })
                result.AddError($"The folder of --report does not exist: {folder.FullName}.");
        });
        var command = new Command(name, description) { rounds, seconds, quick, only, directory, report };
        command.SetAction((result, cancellationToken) =>
        {
            var isQuick = result.GetValue(quick);
            var settings = new SuiteSettings(
                isQuick, result.GetValue(rounds) ?? (isQuick ? 1 : SuiteSettings.FullRounds),
                result.GetValue(seconds) ?? (isQuick ? SuiteSettings.QuickSeconds : FullSeconds));
            if (!isQuick) settings = settings with { WarmUp = s_warmUp };
            var names = result.GetValue(only) ?? [];
            return RunAsync(
                name, settings, [.. sections.Where(section => names.Length == 0 || names.Contains(section.Name))],
                names, result.GetValue(directory), result.GetValue(report), cancellationToken);
        });
        return command;
    }

    private static async Task<int> RunAsync(string name, SuiteSettings settings, IReadOnlyList<ServiceSection> sections,
        string[] only, DirectoryInfo? directory, FileInfo? file, CancellationToken cancellationToken)
    {
        var arguments = string.Create(
            CultureInfo.InvariantCulture, $"--rounds {settings.Rounds} --seconds {settings.Seconds}");
        if (settings.Quick) arguments += " --quick";
        if (only.Length > 0) arguments += " --section " + string.Join(' ', only);
        using var folder = new WorkFolder(directory);
        if (Directory.EnumerateDirectories(folder.Path, SuiteClusters.Prefix + "*").Any())
            throw new IOException($"{folder.Path} has clusters of an earlier run: name another folder.");
        Console.WriteLine($"{name} {arguments}: {RunInfo.Current.Machine}, commit {RunInfo.Current.Commit}");
        var measured = new List<FigureSection>();
        await using var clusters = new SuiteClusters(folder.Path);
        var run = new SuiteRun(settings, clusters, folder.Path, Console.WriteLine);
        foreach (var section in sections)
        {
            Console.WriteLine($"{section.Name}: {section.Title}");
            var figures = new FigureSection(section.Name, section.Title);
            measured.Add(figures);
            try
            {
                await section.RunAsync(run, figures, cancellationToken);
            }
            catch (Exception) when (cancellationToken.IsCancellationRequested)
            {
                figures.Problem("interrupted");
                break;
            }
            catch (Exception e)
            {
                // The other sections have clusters of their own.
                figures.Problem($"{e.GetType().Name}: {e.Message}");
            }
        }

        var code = await new FigureReport(RunInfo.Current, name, arguments, settings.Rounds, measured)
            .WriteAsync(file, CancellationToken.None);
        return cancellationToken.IsCancellationRequested ? Interrupted : code;
    }
}

/// <summary>A part of a command's report.</summary>
/// <param name="RunAsync">Starts what it needs, measures, and fills the section.</param>
internal sealed record ServiceSection(
    string Name, string Title, Func<SuiteRun, FigureSection, CancellationToken, Task> RunAsync);
