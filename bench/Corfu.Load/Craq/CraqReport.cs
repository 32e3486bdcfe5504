using System.Globalization;

namespace Corfu.Load;

/// <summary>A section with points of CRAQ.</summary>
internal sealed class CraqSection(string name, string title) : FigureSection(name, title)
{
    /// <summary>A point whose operations failed says nothing about speed.</summary>
    public void Check(CraqMeasured measured)
    {
        foreach (var rounds in measured.All)
        {
            if (rounds.Failures > 0) Problem($"{rounds.Point.Name}: {rounds.Failures} operations failed");
            if (rounds.Samples.Any(sample => sample.Result.Operations == 0))
                Problem($"{rounds.Point.Name}: a round without an operation");
        }
    }

    /// <summary>The baselines of the section's sizes and windows.</summary>
    public void Baselines(CraqMeasured measured)
    {
        var echoes = measured.Echoes.Select(pair => string.Create(CultureInfo.InvariantCulture,
            $"{pair.Key.Size} B, {pair.Key.InFlight} in flight {RoundResult.Median(pair.Value).PerSecond:#,0}/s (p50 "
            + $"{RoundResult.Median(pair.Value).P50:0} us)"));
        var disks = measured.Disks.Select(pair => string.Create(CultureInfo.InvariantCulture,
            $"{pair.Key} B {RoundResult.Median(pair.Value).P50:0} us"));
        Note($"Of the same rounds: bare echo {string.Join("; ", echoes)}. Bare write and fdatasync, p50: "
            + $"{string.Join("; ", disks)}.");
    }
}

/// <summary>The whole run, as a section of a page in <c>bench/results</c>.</summary>
internal sealed record CraqReport(RunInfo Run, CraqPlan Plan, IReadOnlyList<CraqSection> Sections)
{
    public string Summary => "craq " + string.Join(' ', Sections.SelectMany(section => section.Summary)
        .DistinctBy(pair => pair.Key).Select(pair => $"{pair.Key}={pair.Value}")
        .Append($"problems={Sections.Sum(section => section.Problems.Count)}"));

    public string ToMarkdown()
    {
        var command = string.Create(CultureInfo.InvariantCulture,
            $"Corfu.Load craq --rounds {Plan.Rounds} --seconds {Plan.Seconds} --size {Plan.Size}");
        if (Plan.Sections.Count < CraqPlan.All.Length) command += " --section " + string.Join(' ', Plan.Sections);
        return $"{Run.Machine}. Commit {Run.Commit}, {Run.Runtime}. `{command}`: medians of {Plan.Rounds} rounds.\n\n"
            + string.Join('\n', Sections.Select(section => section.ToMarkdown()))
            + $"\n```\n{Summary}\n```\n";
    }
}
