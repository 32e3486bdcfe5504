using SharedSample.Tests;

namespace BankSample.Tests;

/// <summary>The program as a process, with replicas of its own.</summary>
public sealed class BankRunTests
{
    [Fact]
    public async Task Transfers_run_once_while_replicas_are_killed()
    {
        (int code, string output, string errors) = await SampleProgram.RunAsync(
            "Bank.dll", "--kills", "2", "--transfers", "300");
        Assert.Equal((0, ""), (code, errors));
        string[] lines = output.TrimEnd().Split('\n');
        Assert.Equal("transfers 300 applied 300 twice 0 total 50000 of 50000", lines[^1].TrimEnd());
        Assert.Equal(2, lines.Count(static line => line.Contains(" killed behind ", StringComparison.Ordinal)));
    }

    [Fact]
    public async Task Wrong_options_are_all_told()
    {
        (int code, string output, string errors) = await SampleProgram.RunAsync(
            "Bank.dll", "--kills", "-1", "--accounts", "0", "--connect", "x");
        Assert.Equal((2, ""), (code, output));
        Assert.Contains("--kills must be at least 0", errors, StringComparison.Ordinal);
        Assert.Contains("--accounts must be at least 1", errors, StringComparison.Ordinal);
        Assert.Contains("--connect:", errors, StringComparison.Ordinal);
    }
}
