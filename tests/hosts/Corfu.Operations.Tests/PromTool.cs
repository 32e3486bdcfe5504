using System.Diagnostics;

namespace Corfu.Operations.Tests;

/// <summary>Prometheus' own checker; Debian's package prometheus has it.</summary>
internal static class PromTool
{
    public static async Task<string> RunAsync(string? input, params string[] arguments)
    {
        var program = (Environment.GetEnvironmentVariable("PATH") ?? "").Split(Path.PathSeparator)
            .Select(folder => Path.Combine(folder, "promtool")).FirstOrDefault(File.Exists);
        Assert.SkipWhen(program is null, "promtool is not installed (Debian's package prometheus has it).");
        using var process = Process.Start(new ProcessStartInfo(program!, arguments)
        {
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        })!;
        var output = process.StandardOutput.ReadToEndAsync();
        var errors = process.StandardError.ReadToEndAsync();
        if (input is not null) await process.StandardInput.WriteAsync(input);
        process.StandardInput.Close();
        await process.WaitForExitAsync();
        var text = await output + await errors;
        Assert.True(process.ExitCode == 0, text);
        return text;
    }
}
