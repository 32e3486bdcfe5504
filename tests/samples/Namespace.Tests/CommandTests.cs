using NamespaceSample.App;
using NamespaceSample.Cli;

namespace NamespaceSample.Tests;

public sealed class CommandTests
{
    [Theory]
    [InlineData("replay")]
    [InlineData("replay", "--history")]
    [InlineData("replay", "--history", "x", "--kills", "-1")]
    [InlineData("replay", "--history", "x", "--kills", "some")]
    [InlineData("replay", "--nonsense")]
    [InlineData("--changes", "0")]
    [InlineData("nonsense")]
    public async Task Wrong_arguments_start_no_cluster(params string[] arguments)
    {
        var errors = new StringWriter();
        Assert.Equal(ExitCodes.Usage, await NamespaceCommand.InvokeAsync(arguments, errors));
        Assert.StartsWith("error: ", errors.ToString());
    }

    [Fact]
    public async Task Missing_history_starts_no_cluster() => Assert.Equal(
        ExitCodes.Usage,
        await NamespaceCommand.InvokeAsync(["replay", "--history", "/no/such/file"], TextWriter.Null));
}
