using System.Diagnostics;
using System.Runtime.InteropServices;

namespace Corfu.Load;

/// <summary>Place and subject of a measurement, without which a figure means nothing.</summary>
internal sealed record RunInfo(string Machine, string Commit, string Runtime, DateTimeOffset Time)
{
    public static RunInfo Current { get; } = new(
        $"{Environment.ProcessorCount} x {ProcessorName()}, {GC.GetGCMemoryInfo().TotalAvailableMemoryBytes >> 30} "
        + $"GiB, {RuntimeInformation.OSDescription}",
        CommitName(),
        RuntimeInformation.FrameworkDescription,
        DateTimeOffset.UtcNow);

    private static string ProcessorName()
    {
        const string Source = "/proc/cpuinfo";
        var line = File.Exists(Source)
            ? File.ReadLines(Source).FirstOrDefault(text => text.StartsWith("model name", StringComparison.Ordinal))
            : null;
        return line?.Split(':', 2)[1].Trim() ?? RuntimeInformation.ProcessArchitecture.ToString();
    }

    private static string CommitName()
    {
        try
        {
            using var git =
                Process.Start(new ProcessStartInfo("git", "describe --always --dirty")
                {
                    RedirectStandardOutput = true,
                    RedirectStandardError = true
                });
            var text = git!.StandardOutput.ReadToEnd().Trim();
            git.WaitForExit();
            return text.Length > 0 ? text : "unknown";
        }
        catch (System.ComponentModel.Win32Exception)
        {
            return "unknown";
        }
    }
}
