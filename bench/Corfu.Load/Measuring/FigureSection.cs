using System.Globalization;
using System.Text;

namespace Corfu.Load;

/// <summary>A section of the report: what was done, a table of figures, and what was found wrong.</summary>
internal class FigureSection(string name, string title)
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

/// <summary>Figures of a table's cell.</summary>
internal static class Cell
{
    public static string Count(double value) => value.ToString("#,0", CultureInfo.InvariantCulture);

    public static string Ratio(double value) => value.ToString("0.00", CultureInfo.InvariantCulture);

    public static string Percent(double value) => value.ToString("0.0 %", CultureInfo.InvariantCulture);

    public static string Time(double microseconds) => microseconds.ToString(
        microseconds < 100 ? "0.0" : "#,0", CultureInfo.InvariantCulture);
}
