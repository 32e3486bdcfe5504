using System.ComponentModel;
using System.Diagnostics;
using System.Text.RegularExpressions;

namespace Corfu.Load;

/// <summary>Programs of this machine.</summary>
internal static partial class Programs
{
    // Debian keeps some servers where an ordinary user's PATH does not look.
    private static readonly string[] s_more = ["/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin"];

    public static string? Find(string name) =>
        (Environment.GetEnvironmentVariable("PATH") ?? "").Split(':', StringSplitOptions.RemoveEmptyEntries)
        .Concat(s_more).Select(folder => Path.Combine(folder, name)).FirstOrDefault(File.Exists);

    /// <summary>The first version number that <c>--version</c> prints, or "unknown".</summary>
    public static async Task<string> VersionAsync(string program)
    {
        try
        {
            using var process = Process.Start(
                new ProcessStartInfo(program, "--version") { RedirectStandardOutput = true })!;
            var text = await process.StandardOutput.ReadToEndAsync();
            await process.WaitForExitAsync();
            return Version().Match(text) is { Success: true } version ? version.Value : "unknown";
        }
        catch (Win32Exception)
        {
            return "unknown";
        }
    }

    [GeneratedRegex(@"\d+(\.\d+)+")]
    private static partial Regex Version();
}
