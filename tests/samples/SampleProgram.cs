using System.Diagnostics;

namespace SharedSample.Tests;

/// <summary>A sample as a process.</summary>
internal static class SampleProgram
{
    private static readonly TimeSpan s_patience = TimeSpan.FromMinutes(3);

    /// <param name="assembly">Beside the tests.</param>
    public static async Task<(int Code, string Output, string Errors)> RunAsync(
        string assembly, params string[] arguments)
    {
        var start = new ProcessStartInfo("dotnet")
        {
            ArgumentList = { Path.Combine(AppContext.BaseDirectory, assembly) },
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
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
