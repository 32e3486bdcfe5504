using System.CommandLine;
using System.Globalization;

namespace Corfu.Load.Suite.Compare;

/// <summary><c>compare</c>: what changed from one report of <c>all</c> to another.</summary>
internal static class CompareCommand
{
    private const int Regressed = 1;
    private const int NotComparable = 2;

    public static Command Create()
    {
        var old = new Argument<FileInfo>("old") { Description = "report.json of the code before." };
        var now = new Argument<FileInfo>("new") { Description = "report.json of the code after." };
        var command = new Command("compare",
            $"Ratios to the baselines in two reports of 'all'. {ReportComparison.Rule} Exit code 1 if there is a "
            + "regression, 2 if the files cannot be compared.")
        { old, now };
        command.SetAction(result => Run(result.GetRequiredValue(old).FullName, result.GetRequiredValue(now).FullName));
        return command;
    }

    private static int Run(string old, string now)
    {
        try
        {
            var comparison = ReportComparison.Of(ReportFiles.Read(old), ReportFiles.Read(now));
            Print(comparison);
            return comparison.Regressions > 0 ? Regressed : 0;
        }
        catch (ReportException e)
        {
            Console.Error.WriteLine(e.Message);
            return NotComparable;
        }
    }

    private static void Print(ReportComparison comparison)
    {
        Console.WriteLine(
            $"{"scenario",-16} {"series",-18} {"at",-16} {"old (rounds)",-30} {"new (rounds)",-30} change");
        foreach (var change in comparison.Changes)
        {
            var verdict = change.Verdict == Verdict.Same ? "" : $"  {change.Verdict.ToString().ToUpperInvariant()}";
            Console.WriteLine(string.Create(CultureInfo.InvariantCulture,
                $"{change.Scenario,-16} {change.Series,-18} {change.Label,-16} {Spread(change.Old),-30} "
                + $"{Spread(change.New),-30} {Percent(change.Change)}{verdict}"));
        }

        foreach (var note in comparison.Notes) Console.WriteLine(note);
        Console.WriteLine(
            $"compared={comparison.Changes.Count} regressions={comparison.Regressions} "
            + $"improvements={comparison.Improvements}");
    }

    private static string Percent(double change) =>
        double.IsNaN(change) ? "" : string.Create(CultureInfo.InvariantCulture, $"{change * 100,+6:+0.0;-0.0;0.0} %");

    private static string Spread(IReadOnlyList<double> ratios) => ratios.Count == 0
        ? "-"
        : string.Create(CultureInfo.InvariantCulture,
            $"{RoundResult.Middle(ratios):G3} ({ratios.Min():G3} to {ratios.Max():G3})");
}
