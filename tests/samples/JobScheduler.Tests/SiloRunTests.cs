using System.Diagnostics;

namespace JobScheduler.Tests;

/// <summary>The whole program with its silo processes.</summary>
public sealed class SiloRunTests
{
    private static readonly TimeSpan s_patience = TimeSpan.FromMinutes(2);

    [Fact]
    public async Task A_silo_is_killed_and_the_schedule_is_the_plain_one()
    {
        (int code, string output, string errors) = await RunAsync(
            "--orleans", "2", "--kills", "1", "--jobs", "60", "--nodes", "32", "--replicas", "2");
        Assert.True(code == 0, output + errors);
        Assert.Matches(
            @"jobs=60 done=60 lost=0 duplicate=0 overcommitted=0 nodes_free=32 schedule=match "
            + @"transactions=\d+ aborted=\d+ seconds=\d+\.\d\d silos=2 kills=1\s*$", output);
    }

    private static async Task<(int Code, string Output, string Errors)> RunAsync(params string[] arguments)
    {
        var start = new ProcessStartInfo("dotnet")
        {
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        start.ArgumentList.Add(Path.Combine(AppContext.BaseDirectory, "JobScheduler.dll"));
        foreach (string argument in arguments) start.ArgumentList.Add(argument);
        using Process process = Process.Start(start)!;
        try
        {
            Task<string> output = process.StandardOutput.ReadToEndAsync();
            Task<string> errors = process.StandardError.ReadToEndAsync();
            await process.WaitForExitAsync().WaitAsync(s_patience);
            return (process.ExitCode, await output, await errors);
        }
        finally
        {
            if (!process.HasExited) process.Kill(entireProcessTree: true);
        }
    }
}
