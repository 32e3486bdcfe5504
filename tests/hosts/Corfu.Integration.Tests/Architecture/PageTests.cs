using System.Text.RegularExpressions;

namespace Corfu.Integration.Tests.Architecture;

/// <summary>Pages of docs/ name tests that exist.</summary>
public sealed partial class PageTests
{
    [Fact]
    public void Test_named_by_a_page_exists()
    {
        var tests = string.Concat(
            Repository.Sources("tests").Select(file => File.ReadAllText(Path.Combine(Repository.Root, file))));
        var missing = from page in Directory.EnumerateFiles(
                          Path.Combine(Repository.Root, "docs"), "*.md", SearchOption.AllDirectories)
                      from Match name in TestName().Matches(File.ReadAllText(page))
                      where !tests.Contains(name.Groups[1].Value, StringComparison.Ordinal)
                      select $"{Path.GetFileName(page)}: {name.Value}";
        Assert.Empty(missing);
    }

    // In backticks, whole or as its beginning: `Torn_record_is_cut`, `Torn_record...`, `Torn_*`.
    [GeneratedRegex(@"`(?:\w+: )?([A-Z][A-Za-z0-9]*_[a-z0-9]\w*|[A-Z][a-z]+\d+_)(?:\.\.\.|\*)?`")]
    private static partial Regex TestName();
}
