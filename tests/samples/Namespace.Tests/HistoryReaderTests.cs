using NamespaceSample.History;

namespace NamespaceSample.Tests;

public sealed class HistoryReaderTests
{
    private const string Text =
        "T c1 100\nA\ta/b.txt\nA\tc\nT c2 200\nT c3 300\nM\tc\nT\tc\nR\ta/b.txt\td e\nC\tc\tf\nD\tc\n";

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Changes_and_operations_are_read(bool isGzip)
    {
        using var file = new TextFile(Text, isGzip);
        IReadOnlyList<HistoryChange> changes = HistoryReader.ReadFile(file.Path);
        Assert.Equal([("c1", 100, 1), ("c2", 200, 4), ("c3", 300, 5)], changes.Select(c => (c.Id, c.Time, c.Line)));
        Assert.Equal([1, 2, 3], changes.Select(c => c.Number));
        Assert.Equal([new HistoryOperation.Add("/a/b.txt"), new HistoryOperation.Add("/c")], changes[0].Operations);
        Assert.Empty(changes[1].Operations);
        Assert.Equal(
            [
                new HistoryOperation.Modify("/c"), new HistoryOperation.Modify("/c"),
                new HistoryOperation.Rename("/a/b.txt", "/d e"), new HistoryOperation.Copy("/c", "/f"),
                new HistoryOperation.Delete("/c"),
            ],
            changes[2].Operations);
    }

    [Theory]
    [InlineData("A\ta\n", 1)]
    [InlineData("T c1\n", 1)]
    [InlineData("T c1 soon\n", 1)]
    [InlineData("T c1 1\nX\ta\n", 2)]
    [InlineData("T c1 1\nA\ta\nA\n", 3)]
    [InlineData("T c1 1\n\nA a\n", 3)]
    [InlineData("T c1 1\nR\ta\n", 2)]
    [InlineData("T c1 1\nA\ta\tb\n", 2)]
    [InlineData("T c1 1\nA\t/a\n", 2)]
    [InlineData("T c1 1\nA\ta//b\n", 2)]
    [InlineData("T c1 1\nA\ta/\n", 2)]
    public void Malformed_line_is_reported_with_the_number(string text, int line)
    {
        using var file = new TextFile(text);
        var error = Assert.Throws<HistoryFormatException>(() => HistoryReader.ReadFile(file.Path));
        Assert.Equal(line, error.Line);
        Assert.Contains($"{file.Path}, line {line}: ", error.Message);
    }

    [Fact]
    public void A_file_without_a_change_is_refused()
    {
        using var file = new TextFile("");
        Assert.Throws<HistoryFormatException>(() => HistoryReader.ReadFile(file.Path));
    }

    [Fact]
    public void Missing_file_is_reported_by_name() => Assert.Contains(
        "/no/such/file", Assert.Throws<HistoryFormatException>(() => HistoryReader.ReadFile("/no/such/file")).Message);

    [Fact]
    public void Paths_are_sorted_and_are_there_once()
    {
        using var file = new TextFile("b\na/c\n");
        Assert.Equal(["/a/c", "/b"], HistoryReader.ReadPaths(file.Path));
        using var twice = new TextFile("b\nb\n");
        Assert.Equal(2, Assert.Throws<HistoryFormatException>(() => HistoryReader.ReadPaths(twice.Path)).Line);
    }
}
