using NamespaceSample.History;
using NamespaceSample.Model;

namespace NamespaceSample.Tests;

public sealed class HistoryModelTests
{
    [Fact]
    public void Operations_of_a_change_are_simultaneous()
    {
        var files = Play("T 1 1\nA\ta\nA\tb\nT 2 2\nM\ta\nT 3 3\nR\ta\tb\nR\tb\ta\n");
        Assert.Equal(["/a", "/b"], files.Keys);
        Assert.Equal(("1.1", 2), (files["/a"].Id, files["/a"].Revision));
        Assert.Equal(("1.0", 3), (files["/b"].Id, files["/b"].Revision));
    }

    [Fact]
    public void Copy_is_a_separate_file() =>
        Assert.Equal(["1.0", "2.0"], Play("T 1 1\nA\ta\nT 2 2\nC\ta\tb\n").Values.Select(file => file.Id));

    [Fact]
    public void A_path_that_is_left_can_be_taken() =>
        Assert.Equal("2.1", Play("T 1 1\nA\ta\nT 2 2\nR\ta\tb\nA\ta\n")["/a"].Id);

    [Theory]
    [InlineData("T 1 1\nC\ta\tb\n", 1)]
    [InlineData("T 1 1\nA\ta\nT 2 2\nD\tb\n", 3)]
    [InlineData("T 1 1\nA\ta\nT 2 2\nA\ta\n", 3)]
    public void Change_that_does_not_fit_is_reported_with_the_line(string text, int line) =>
        Assert.Equal(line, Assert.Throws<HistoryFormatException>(() => Play(text)).Line);

    private static SortedDictionary<string, Entry> Play(string text) =>
        HistoryModel.Play("history", Histories.Read(text));
}
