using System.Text.RegularExpressions;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Text;

namespace Tango.Generators;

/// <summary>
/// TangoObjects.Shipped.txt: one line for each thing that logs hold, or held.
/// <code>
/// object "node-pool"
/// mutator "node-pool" 1: Allocate(long, int) -> int[]
/// *REMOVED* mutator "node-pool" 2: Free(long)
/// state "node-pool" _free: int
/// context "shop": group
/// member "shop" Orders: "tango.dictionary"&lt;string, Shop.Order&gt;
/// value "Shop.Order" 0: Id long
/// </code>
/// What stands before the colon is the place that it takes in logs: no two lines have the same.
/// </summary>
internal sealed class ShippedFile
{
    public const string Name = "TangoObjects.Shipped.txt";
    public const string Removed = "*REMOVED* ";

    private const string Quoted = """
        "(?:[^"\\]|\\.)+"
        """;

    private static readonly Regex s_line = new(
        $@"^(?<removed>\*REMOVED\* )?(?<what>(?<place>object {Quoted}|context {Quoted}|mutator {Quoted} \d+"
        + $@"|state {Quoted} \w+|member {Quoted} (?:\w+|{Quoted})|value {Quoted} \d+)(?:: .+)?)$",
        RegexOptions.CultureInvariant);

    private readonly Dictionary<string, ShippedLine> _lines = [];

    private ShippedFile(AdditionalText file, SourceText text)
    {
        foreach (TextLine line in text.Lines)
        {
            string written = line.ToString().Trim();
            if (written.Length == 0 || written[0] == '#') continue;
            Location where = Location.Create(file.Path, line.Span, text.Lines.GetLinePositionSpan(line.Span));
            Match match = s_line.Match(written);
            string place = match.Groups["place"].Value;
            if (!match.Success) Wrong.Add((where, written, "it is no line of this file"));
            else if (_lines.ContainsKey(place)) Wrong.Add((where, written, $"another line has '{place}'"));
            else
                _lines.Add(place, new ShippedLine(match.Groups["what"].Value, match.Groups["removed"].Success, where));
        }
    }

    public IReadOnlyDictionary<string, ShippedLine> Lines => _lines;

    public List<(Location Where, string Line, string Why)> Wrong { get; } = [];

    /// <returns>Null: the project has no such file, and nothing is checked.</returns>
    public static ShippedFile? Of(IEnumerable<AdditionalText> files, CancellationToken cancellation)
    {
        AdditionalText? file = files.FirstOrDefault(f => Path.GetFileName(f.Path) == Name);
        return file?.GetText(cancellation) is { } text ? new ShippedFile(file, text) : null;
    }
}

/// <param name="What">Without the mark of what is removed.</param>
internal sealed record ShippedLine(string What, bool IsRemoved, Location Where);
