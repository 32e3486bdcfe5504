using Corfu.Integration.Tests.Architecture;

namespace Corfu.Integration.Tests.Support;

/// <summary>A section of docs/operations.md whose commands a test runs as the page gives them.</summary>
internal sealed class Runbook
{
    private readonly string _section;
    private readonly string _connection;

    /// <param name="connection">Takes the place of <c>C</c>.</param>
    public Runbook(string title, string connection)
    {
        var page = File.ReadAllText(Path.Combine(Repository.Root, "docs", "operations.md"));
        var heading = $"\n### {title}\n";
        var start = page.IndexOf(heading, StringComparison.Ordinal);
        Assert.True(start >= 0, $"docs/operations.md has no section '{title}'.");
        var end = page.IndexOf("\n### ", start + heading.Length, StringComparison.Ordinal);
        _section = page[start..end];
        _connection = connection;
    }

    /// <summary>Runs a command of the section.</summary>
    /// <param name="command">As the page writes it, to the letter.</param>
    /// <param name="values">The values in place of its words in capitals.</param>
    public Task<ToolResult> RunAsync(string command, params (string Word, string Value)[] values)
    {
        string[] ends = ["\n", "`", " #"];
        Assert.True(ends.Any(end => _section.Contains(command + end, StringComparison.Ordinal)),
            $"The runbook does not give '{command}'.");
        var words = values.Append(("C", _connection)).ToDictionary();
        return CorfuTool.RunAsync([.. command.Split(' ').Skip(1).Select(word => words.GetValueOrDefault(word, word))]);
    }
}
