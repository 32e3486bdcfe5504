using System.Globalization;
using System.Text;

namespace Corfu.Load;

/// <summary>A section of the report: what was done, a table of figures, and what was found wrong.</summary>
internal sealed class CraqSection(string name, string title)
{
    private readonly List<string[]> _rows = [];
    private readonly List<string> _notes = [];
    private readonly List<(string Key, string Value)> _summary = [];
    private readonly List<string> _problems = [];
    private string[] _columns = [];

    public string Name => name;

    /// <summary>Pairs for the last line of the run.</summary>
    public IReadOnlyList<(string Key, string Value)> Summary => _summary;

    /// <summary>Reasons why the figures are not what they claim to be.</summary>
    public IReadOnlyList<string> Problems => _problems;

    public void Columns(params string[] columns) => _columns = columns;

    public void Row(params string[] cells) => _rows.Add(cells);

    public void Note(string text) => _notes.Add(text);

    public void Sum(string key, double value, string format = "0") =>
        _summary.Add((key, value.ToString(format, CultureInfo.InvariantCulture)));

    public void Problem(string text) => _problems.Add(text);

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

    public string ToMarkdown()
    {
        var text = new StringBuilder($"### {title}\n");
        foreach (var note in _notes) text.Append('\n').Append(note).Append('\n');
        if (_rows.Count > 0)
        {
            text.Append("\n| ").AppendJoin(" | ", _columns).Append(" |\n|")
                .Append(string.Concat(_columns.Select(_ => "---|"))).Append('\n');
            foreach (var row in _rows) text.Append("| ").AppendJoin(" | ", row).Append(" |\n");
        }

        foreach (var problem in _problems) text.Append($"\n**Not valid**: {problem}.\n");
        return text.ToString();
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

/// <summary>Figures of a table's cell.</summary>
internal static class Cell
{
    public static string Count(double value) => value.ToString("#,0", CultureInfo.InvariantCulture);

    public static string Ratio(double value) => value.ToString("0.00", CultureInfo.InvariantCulture);

    public static string Percent(double value) => value.ToString("0.0 %", CultureInfo.InvariantCulture);

    public static string Time(double microseconds) => microseconds.ToString(
        microseconds < 100 ? "0.0" : "#,0", CultureInfo.InvariantCulture);
}
