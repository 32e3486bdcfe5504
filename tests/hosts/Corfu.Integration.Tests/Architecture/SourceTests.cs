namespace Corfu.Integration.Tests.Architecture;

/// <summary>Norms of the source tree that a reviewer should not have to count.</summary>
public sealed class SourceTests
{
    private const int LongestFile = 600;
    private const int MedianFile = 80;
    private const int NinetiethFile = 250;

    private static readonly string[] Unfinished = ["TODO", "FIXME", "HACK", "NotImplementedException"];

    [Fact]
    public void No_file_is_longer_than_the_limit()
    {
        foreach (var file in Repository.Sources("src", "samples", "bench", "tests"))
            Assert.True(Lines(file) <= LongestFile, $"{file} has {Lines(file)} lines; split it by verb.");
    }

    [Fact]
    public void Files_are_small_as_a_rule()
    {
        var lengths = Repository.Sources("src").Select(Lines).Order().ToArray();
        Assert.True(lengths[lengths.Length / 2] <= MedianFile,
            $"The median file has {lengths[lengths.Length / 2]} lines.");
        Assert.True(lengths[lengths.Length * 9 / 10] <= NinetiethFile,
            $"One file in ten is longer than {lengths[lengths.Length * 9 / 10]} lines.");
    }

    [Fact]
    public void Sources_hold_no_mark_of_unfinished_work()
    {
        var self = Path.Combine("tests", "hosts", "Corfu.Integration.Tests", "Architecture", "SourceTests.cs");
        foreach (var file in Repository.Sources("src", "samples", "bench", "tests").Where(file => file != self))
        {
            var text = Repository.Read(file);
            foreach (var word in Unfinished)
                Assert.False(text.Contains(word, StringComparison.Ordinal), $"{file} holds {word}.");
        }
    }

    // A planted bug is a call of Planted.Is, which product builds compile away.
    [Fact]
    public void Product_text_has_no_conditional_compilation()
    {
        var conditions = from file in Repository.Sources("src")
                         from line in File.ReadLines(Path.Combine(Repository.Root, file))
                         where line.TrimStart().StartsWith("#if", StringComparison.Ordinal)
                         select $"{file}: {line}";
        Assert.Empty(conditions);
    }

    private static int Lines(string file) => File.ReadLines(Path.Combine(Repository.Root, file)).Count();
}
