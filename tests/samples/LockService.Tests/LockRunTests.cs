using SharedSample.Tests;

namespace LockServiceSample.Tests;

/// <summary>The program as a process, with members of its own.</summary>
public sealed class LockRunTests
{
    [Fact]
    public async Task Returning_holder_is_refused()
    {
        int stops = OperatingSystem.IsLinux() ? 1 : 0;
        (int code, string output, string errors) = await SampleProgram.RunAsync(
            "LockService.dll", "--kills", "1", "--stops", $"{stops}", "--lease", "500");
        Assert.Equal((0, ""), (code, errors));
        string last = output.TrimEnd().Split('\n')[^1].TrimEnd();
        Assert.Equal(
            $"acquired {2 * (1 + stops)} killed 1 stopped {stops} refused {stops} tokens grow yes", last);
    }

    /// <summary>A member whose call to acquire waited went on for ever.</summary>
    [Fact]
    public async Task Killed_program_leaves_no_member_neither_stopped_nor_waiting_for_a_lock()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "Processes are found in /proc.");
        Assert.Empty(await SampleProgram.KillAsync(
            "LockService.dll", "and is stopped", children: 3, "--kills", "0", "--stops", "1", "--lease", "60000"));
    }

    [Fact]
    public async Task Wrong_options_are_all_told()
    {
        (int code, string output, string errors) = await SampleProgram.RunAsync(
            "LockService.dll", "--kills", "-1", "--lease", "5");
        Assert.Equal((2, ""), (code, output));
        Assert.Contains("--kills must be at least 0", errors, StringComparison.Ordinal);
        Assert.Contains("--lease must be at least 200", errors, StringComparison.Ordinal);
    }
}
