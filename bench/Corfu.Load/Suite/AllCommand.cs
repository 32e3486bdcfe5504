using System.CommandLine;
using System.Diagnostics;
using System.Globalization;

namespace Corfu.Load.Suite;

/// <summary><c>all</c>: every scenario with its baselines in one run, and a report of it.</summary>
internal static class AllCommand
{
    private const int Interrupted = 130;

    private static readonly string s_defaultFolder = Path.Combine("artifacts", "load");

    public static Command Create()
    {
        var quick = new Option<bool>("--quick")
        { Description = "One short round of fewer points: shows that everything runs. Its figures say little." };
        var output = new Option<DirectoryInfo>("--output", "-o")
        {
            Description = $"Where report.json and report.html go (default: {s_defaultFolder}); an earlier report "
                + "there is kept as previous.json and previous.html.",
            DefaultValueFactory = _ => new DirectoryInfo(s_defaultFolder),
        };
        var rounds = new Option<int?>("--rounds")
        { Description = $"Rounds (default: {SuiteSettings.FullRounds}; quick: 1)." };
        var seconds = new Option<double?>("--seconds")
        {
            Description = string.Create(CultureInfo.InvariantCulture,
                $"Length of a round of one point (default: {SuiteSettings.FullSeconds}; quick: "
                + $"{SuiteSettings.QuickSeconds})."),
        };
        var only = new Option<string[]>("--only")
        { Description = "Scenarios to run, by their names; without it all.", AllowMultipleArgumentsPerToken = true };
        only.AcceptOnlyFromAmong([.. ScenarioList.All.Select(scenario => scenario.Info.Name)]);
        var directory = new Option<DirectoryInfo?>("--dir", "-d")
        { Description = "Where the clusters' files go (default: a temporary folder)." };
        rounds.Validators.Add(result =>
        {
            if (result.GetValueOrDefault<int?>() is < 1) result.AddError("--rounds must be at least 1.");
        });
        seconds.Validators.Add(result =>
        {
            if (result.GetValueOrDefault<double?>() is <= 0 or > 3600)
                result.AddError("--seconds must be more than 0 and at most 3600.");
        });
        var command = new Command("all",
            "Every scenario with its baselines, interleaved in one run; writes report.json and report.html.")
        { quick, output, rounds, seconds, only, directory };
        command.SetAction((result, cancellationToken) =>
        {
            var isQuick = result.GetValue(quick);
            var settings = new SuiteSettings(
                isQuick,
                result.GetValue(rounds) ?? (isQuick ? 1 : SuiteSettings.FullRounds),
                result.GetValue(seconds) ?? (isQuick ? SuiteSettings.QuickSeconds : SuiteSettings.FullSeconds));
            var names = result.GetValue(only) ?? [];
            return RunAsync(settings, new ReportFiles(result.GetRequiredValue(output).FullName),
                [.. ScenarioList.All.Where(one => names.Length == 0 || names.Contains(one.Info.Name))],
                result.GetValue(directory), cancellationToken);
        });
        return command;
    }

    private static async Task<int> RunAsync(SuiteSettings settings, ReportFiles files,
        IReadOnlyList<IScenario> scenarios, DirectoryInfo? directory, CancellationToken cancellationToken)
    {
        var started = Stopwatch.GetTimestamp();
        var header = HeaderOf(settings);
        Console.WriteLine($"{header.Machine}, kernel {header.Kernel}, commit {header.Commit}");
        using var folder = new WorkFolder(directory);
        var report = new SuiteReport(SuiteReport.FileKind, SuiteReport.FileFormat, header, []);
        bool finished;
        await using (var clusters = new SuiteClusters(folder.Path))
        {
            var runner = new SuiteRunner(new SuiteRun(settings, clusters, folder.Path, Console.WriteLine));
            finished = await runner.RunAsync(scenarios, async measured =>
            {
                var total = Stopwatch.GetElapsedTime(started).TotalSeconds;
                report = report with { Header = header with { TotalSeconds = total }, Scenarios = [.. measured] };
                await files.WriteJsonAsync(report);
            }, cancellationToken);
        }

        await files.WriteHtmlAsync(report);
        foreach (var scenario in report.Scenarios.Where(scenario => scenario.Error is not null))
            Console.WriteLine($"failed: {scenario.Info.Name}: {scenario.Error}");
        if (!finished) Console.WriteLine($"interrupted: {report.Scenarios.Count} of {scenarios.Count} scenarios began");
        Console.WriteLine($"scenarios={report.Scenarios.Count} baselines={report.WithBaselines} "
            + $"failed={report.Failed} report={files.HtmlPath}");
        if (!finished) return Interrupted;
        return report.Failed == 0 ? 0 : 1;
    }

    private static SuiteHeader HeaderOf(SuiteSettings settings)
    {
        const string release = "/proc/sys/kernel/osrelease";
        var run = RunInfo.Current;
        return new SuiteHeader(
            run.Machine, Environment.ProcessorCount,
            File.Exists(release) ? File.ReadAllText(release).Trim() : Environment.OSVersion.VersionString,
            run.Runtime, run.Commit,
            string.Join(' ', ["Corfu.Load", .. Environment.GetCommandLineArgs().Skip(1)]),
            run.Time, settings.Quick, settings.Rounds, settings.Seconds, 0);
    }
}
