using System.Text.RegularExpressions;

namespace Corfu.Integration.Tests.Architecture;

/// <summary>docs/glossary.md gives each word one meaning, and names types that exist.</summary>
public sealed partial class GlossaryTests
{
    // Names of other projects, words of .NET, and words with the meaning that any reader knows.
    private const string PlainWords = """
        aborted ack address admin answer apply attribute auth body book booked buffer builder busy call canonical
        change codec collection committed condition config connection copy corfu craq create damaged data decided
        declared delete denied detector device dictionary diverged durable element embedded endpoint entropy error
        exception extension failed faster fault file folder format formatter found frame framed get grpc handler
        hash header health history i id image immutable in info keeper key kind large leased limit list listed
        listen lookup loop lost many map memory message method mode name nbd nested newest not observer only opcode
        open operation option order ordinal orlean path ping prefix process progress protocol put queue range read
        reader reason reconfigurer refusal refused registry reload reply report request response result row rule
        salus server service set setting shape silo size sorted source state status stopped store stored string
        tango tcp telemetry term test time tl too tree trimmed tx type unavailable unknown update use value wire
        worker write zoo
        """;

    private static readonly string[] s_publicTypes =
    [
        .. Directory.EnumerateFiles(Repository.Projects("src"), "PublicAPI.Shipped.txt", SearchOption.AllDirectories)
            .SelectMany(File.ReadLines).Select(line => TypeLine().Match(line)).Where(match => match.Success)
            .Select(match => match.Groups["name"].Value).Distinct(),
    ];

    private static readonly string[][] s_rows =
    [
        .. File.ReadLines(Path.Combine(Repository.Root, "docs", "glossary.md"))
            .Where(line => line.StartsWith("| ", StringComparison.Ordinal)).Skip(1)
            .Select(line => line.Trim('|', ' ').Split(" | ")),
    ];

    [Fact]
    public void Word_stands_once_in_alphabetical_order()
    {
        string[] words = [.. s_rows.Select(row => row[0])];
        Assert.Equal(words.Distinct().Order(StringComparer.Ordinal), words);
    }

    /// <summary>A word that two public types share is a term: it has a meaning here, or is one of these.</summary>
    [Fact]
    public void Term_of_public_types_stands_in_the_glossary()
    {
        var known = s_rows.SelectMany(row => Letters().Matches(row[0])).Select(match => Singular(match.Value))
            .Concat(PlainWords.Split([' ', '\n', '\r'], StringSplitOptions.RemoveEmptyEntries)).ToHashSet();
        var terms =
            from word in s_publicTypes.SelectMany(type => WordsOf(type).Distinct())
            group word by word into uses
            where uses.Count() > 1 && !known.Contains(uses.Key)
            select $"{uses.Key}: {string.Join(", ", s_publicTypes.Where(type => WordsOf(type).Contains(uses.Key)))}";
        Assert.Empty(terms);
    }

    [Fact]
    public void Type_of_a_word_exists()
    {
        foreach (var row in s_rows.Where(row => row.Length == 3))
        {
            var type = row[2].Trim('`');
            Assert.True(Repository.Types.Contains(type), $"{row[0]}: src has no type {type}.");
        }
    }

    private static IEnumerable<string> WordsOf(string type) =>
        Words().Matches(type).Select(match => Singular(match.Value.ToLowerInvariant()));

    private static string Singular(string word) =>
        word.EndsWith("ies", StringComparison.Ordinal) ? word[..^3] + "y"
        : word.EndsWith('s') && !word.EndsWith("ss", StringComparison.Ordinal)
            && !word.EndsWith("us", StringComparison.Ordinal) ? word[..^1]
        : word;

    // A line of PublicAPI.Shipped.txt that declares a type: neither members nor modifiers follow.
    [GeneratedRegex(@"^(static )?([A-Za-z]\w*\.)*(?<name>[A-Za-z]\w*)(<[^>]*>)?$")]
    private static partial Regex TypeLine();

    [GeneratedRegex("[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")]
    private static partial Regex Words();

    [GeneratedRegex("[a-z]+")]
    private static partial Regex Letters();
}
