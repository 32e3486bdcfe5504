using SharedSample.Tests;

namespace NamenodeSample.Tests;

/// <summary>The program as a process, with a cluster and namenodes of its own.</summary>
public sealed class NamenodeRunTests
{
    [Fact]
    public async Task Acknowledged_operations_survive_kills_and_stops_of_the_active()
    {
        int stops = OperatingSystem.IsLinux() ? 1 : 0;
        (int code, string output, string errors) = await SampleProgram.RunAsync(
            "Namenode.dll", "--kills", "1", "--stops", $"{stops}", "--operations", "300", "--lease", "1000");
        Assert.Equal((0, ""), (code, errors));
        string[] lines = output.TrimEnd().Split('\n');
        Assert.Equal($"operations 300 lost=0 fenced={stops} match=yes", lines[^1].TrimEnd());
        Assert.Contains("image and edits", lines[^2], StringComparison.Ordinal);
        Assert.Equal(1 + stops, lines.Count(static line => line.Contains("no service for", StringComparison.Ordinal)));
    }

    [Fact]
    public async Task Killed_program_leaves_no_process()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "Processes are found in /proc.");
        Assert.Empty(await SampleProgram.KillAsync("Namenode.dll", "3 namenodes", children: 7, "--kills", "1"));
    }

    [Fact]
    public async Task Wrong_options_are_all_told()
    {
        (int code, string output, string errors) = await SampleProgram.RunAsync(
            "Namenode.dll", "--kills", "-1", "--lease", "5", "--clients", "0");
        Assert.Equal((2, ""), (code, output));
        Assert.Contains("--kills must be at least 0", errors, StringComparison.Ordinal);
        Assert.Contains("--lease must be at least 500", errors, StringComparison.Ordinal);
        Assert.Contains("--clients must be at least 1", errors, StringComparison.Ordinal);
    }
}
