using System.Diagnostics;

namespace Corfu.WebConsole.Tests.Support;

/// <summary>The browser of these tests: one that is installed, or Debian's, installed now where that can be done
/// without asking (CI=true, as root).</summary>
internal static class Chromium
{
    public const string Variable = "CORFU_CHROMIUM";

    private static readonly string[] s_places =
    [
        "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome", "/usr/bin/google-chrome-stable",
        "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
        "C:/Program Files/Google/Chrome/Application/chrome.exe",
    ];

    private static readonly TimeSpan s_patience = TimeSpan.FromMinutes(4);

    /// <summary>Null with the reason: there is none.</summary>
    public static async Task<(string? Path, string Reason)> FindAsync()
    {
        if (Environment.GetEnvironmentVariable(Variable) is { Length: > 0 } given)
            return File.Exists(given) ? (given, "") : (null, $"{Variable} names {given}, which does not exist.");
        if (Installed() is { } found) return (found, "");
        var mayInstall = Environment.GetEnvironmentVariable("CI") == "true" && Environment.IsPrivilegedProcess
            && File.Exists("/usr/bin/apt-get");
        if (!mayInstall)
            return (null, $"No Chromium: install one ('apt-get install chromium'), or name it by {Variable}.");
        var fault = await RunAsync("apt-get", "update") ?? await RunAsync("apt-get", "install -y chromium");
        return Installed() is { } now
            ? (now, "")
            : (null, $"No Chromium, and apt-get did not install it: {fault}");
    }

    private static string? Installed() => s_places.FirstOrDefault(File.Exists);

    // Null: done.
    private static async Task<string?> RunAsync(string program, string arguments)
    {
        using var limit = new CancellationTokenSource(s_patience);
        using var process = Process.Start(new ProcessStartInfo(program, arguments)
        {
            RedirectStandardOutput = true,
            RedirectStandardError = true,
            Environment = { ["DEBIAN_FRONTEND"] = "noninteractive" },
        })!;
        try
        {
            var output = process.StandardOutput.ReadToEndAsync(limit.Token);
            var error = await process.StandardError.ReadToEndAsync(limit.Token);
            await output;
            await process.WaitForExitAsync(limit.Token);
            return process.ExitCode == 0 ? null : error.Trim();
        }
        catch (OperationCanceledException)
        {
            process.Kill(entireProcessTree: true);
            return $"'{program} {arguments}' took longer than {s_patience.TotalMinutes} minutes";
        }
    }
}
