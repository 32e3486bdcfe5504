using System.Diagnostics;
using System.Globalization;
using Corfu.Cli;

namespace Corfu.Integration.Tests.Support;

/// <summary>The command line tool: a process, as its users run it, or a command in the process of the tests. Starting
/// the tool costs more processor time than most commands do.</summary>
internal static class CorfuTool
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(90);

    // A shell without job control starts background commands with SIGINT ignored, and children inherit that: programs
    // under test begin with the default, as on a terminal.
    private static readonly string[] s_defaultSignals = IgnoresInterrupt() ? ["env", "--default-signal=INT"] : [];

    /// <summary>The tool beside the tests, or another build of it that the environment names.</summary>
    public static string Assembly { get; } = Environment.GetEnvironmentVariable("CORFU_TOOL") is { Length: > 0 } tool
        ? tool
        : Path.Combine(AppContext.BaseDirectory, "corfu.dll");

    /// <summary>A command in this process, but for those that need one: they start the tool again as nodes, or read
    /// and write bytes at the standard streams.</summary>
    public static Task<ToolResult> RunAsync(params string[] arguments) =>
        arguments is ["log", "append" or "read", ..] or ["craq" or "salus", "up", ..]
            or ["cluster", "up" or "add-unit" or "add-spare" or "add-sequencer", ..]
                ? RunProcessAsync(arguments)
                : RunHereAsync(arguments);

    /// <summary>The tool as its users run it.</summary>
    public static Task<ToolResult> RunProcessAsync(params string[] arguments) => RunWithInputAsync("", arguments);

    public static Task<ToolResult> RunWithInputAsync(string input, params string[] arguments) =>
        RunAsync(Start(arguments), input, arguments);

    /// <summary>A run that succeeds and says exactly this.</summary>
    public static async Task Expect(string output, params string[] arguments) =>
        Assert.Equal(output, (await RunAsync(arguments)).Require().Output);

    /// <summary>As <see cref="Expect"/>, with something to read.</summary>
    public static async Task ExpectOf(string output, string input, params string[] arguments) =>
        Assert.Equal(output, (await RunWithInputAsync(input, arguments)).Require().Output);

    /// <summary>A run that fails, and says on standard error exactly why.</summary>
    public static async Task Refuse(int exitCode, string error, params string[] arguments)
    {
        var result = await RunAsync(arguments);
        Assert.Equal((exitCode, error), (result.ExitCode, result.Error));
    }

    /// <summary>Another program, which stands beside the tests.</summary>
    public static Task<ToolResult> RunProgramAsync(string program, params string[] arguments) =>
        RunAsync(StartProgram(program, arguments), "", arguments);

    /// <param name="before">The words that run the command elsewhere, as <see cref="Hosts.On"/>.</param>
    public static Task<ToolResult> RunOnAsync(string[] before, string input, params string[] arguments) =>
        RunAsync(StartOn(before, arguments), input, arguments);

    public static Process StartOn(string[] before, params string[] arguments) =>
        StartProgram(Assembly, arguments, before);

    private static async Task<ToolResult> RunHereAsync(string[] arguments)
    {
        // Commands write from several tasks, as they may to the console's writers.
        var (output, error) = (new StringWriter(), new StringWriter());
        var code = await CommandLine.RunAsync(arguments, Terminal(output), Terminal(error)).WaitAsync(Patience);
        return new ToolResult(code, output.ToString(), error.ToString());

        static TextWriter Terminal(TextWriter writer) => new TerminalWriter(TextWriter.Synchronized(writer));
    }

    private static async Task<ToolResult> RunAsync(Process started, string input, string[] arguments)
    {
        using var process = started;
        using var deadline = new CancellationTokenSource(Patience);
        try
        {
            var output = process.StandardOutput.ReadToEndAsync(deadline.Token);
            var error = process.StandardError.ReadToEndAsync(deadline.Token);
            await process.StandardInput.WriteAsync(input);
            process.StandardInput.Close();
            await process.WaitForExitAsync(deadline.Token);
            return new ToolResult(process.ExitCode, await output, await error);
        }
        catch (OperationCanceledException)
        {
            throw new TimeoutException(
                $"corfu {string.Join(' ', arguments)} did not end within {Patience.TotalSeconds} s.");
        }
        finally
        {
            if (!process.HasExited) process.Kill();
        }
    }

    public static Process Start(params string[] arguments) => StartProgram(Assembly, arguments);

    private static Process StartProgram(string program, string[] arguments, string[]? before = null)
    {
        string[] line = [.. s_defaultSignals, .. before ?? [], "dotnet", program, .. arguments];
        return Process.Start(new ProcessStartInfo(line[0], line[1..])
        {
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        })!;
    }

    private static bool IgnoresInterrupt()
    {
        const string Status = "/proc/self/status";
        const ulong Interrupt = 1UL << (2 - 1);
        if (!File.Exists(Status)) return false;
        var ignored = File.ReadLines(Status).Single(line => line.StartsWith("SigIgn:", StringComparison.Ordinal));
        return (ulong.Parse(ignored.AsSpan(7).Trim(), NumberStyles.HexNumber, CultureInfo.InvariantCulture) & Interrupt)
            != 0;
    }
}

/// <summary>How a run of the tool ended.</summary>
internal sealed record ToolResult(int ExitCode, string Output, string Error)
{
    public string[] Lines => Output.Split('\n', StringSplitOptions.RemoveEmptyEntries);

    /// <summary>The run again if it succeeded, else a failure that shows what it said.</summary>
    public ToolResult Require()
    {
        Assert.True(ExitCode == 0, $"exit code {ExitCode}\n{Output}\n{Error}");
        return this;
    }
}
