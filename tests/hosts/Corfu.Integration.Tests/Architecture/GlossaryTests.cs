using System.Text.RegularExpressions;

namespace Corfu.Integration.Tests.Architecture;

/// <summary>docs/glossary.md gives each word one meaning, and names types that exist.</summary>
public sealed class GlossaryTests
{
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

    [Fact]
    public void Type_of_a_word_exists()
    {
        var sources = string.Concat(
            Repository.Sources("src").Select(file => File.ReadAllText(Path.Combine(Repository.Root, file))));
        foreach (var row in s_rows.Where(row => row.Length == 3))
        {
            var type = row[2].Trim('`');
            Assert.True(
                Regex.IsMatch(sources, $@"\b(class|struct|record|interface|enum) (?:struct )?{type}\b"),
                $"{row[0]}: src has no type {type}.");
        }
    }
}
