using System.Diagnostics;

namespace Corfu.FaultRuns.Machine;

/// <summary>The system's own tools.</summary>
internal static class Shell
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    /// <returns>The exit code and everything that was printed.</returns>
    public static async Task<(int Code, string Output)> RunAsync(string program, params string[] arguments)
    {
        Process process;
        try
        {
            process =
                Process.Start(new ProcessStartInfo(program, arguments)
                {
                    RedirectStandardOutput = true,
                    RedirectStandardError = true
                })!;
        }
        catch (System.ComponentModel.Win32Exception e)
        {
            return (127, e.Message);
        }

        using (process)
        {
            using var deadline = new CancellationTokenSource(Patience);
            var output = process.StandardOutput.ReadToEndAsync(deadline.Token);
            var error = process.StandardError.ReadToEndAsync(deadline.Token);
            try
            {
                await process.WaitForExitAsync(deadline.Token);
                return (process.ExitCode, await output + await error);
            }
            catch (OperationCanceledException)
            {
                process.Kill();
                return (124, $"{program} did not end within {Patience.TotalSeconds} s");
            }
        }
    }

    /// <summary>Runs a line of <c>sh</c>.</summary>
    public static Task<(int Code, string Output)> LineAsync(string line) => RunAsync("/bin/sh", "-c", line);

    /// <exception cref="RunException">The command failed.</exception>
    public static async Task RequireAsync(string line)
    {
        var (code, output) = await LineAsync(line);
        if (code != 0) throw new RunException($"'{line}' failed ({code}): {output.Trim()}");
    }
}
