using System.ComponentModel;
using System.Diagnostics;
using System.Globalization;
using System.Text.Json;

namespace Corfu.Load;

/// <summary>The same write and fdatasync as <see cref="BareDisk"/>, by fio: says whether our own measurement is to be
/// believed.</summary>
internal static class Fio
{
    /// <summary>Null where fio is not installed.</summary>
    public static async Task<RoundResult?> RunAsync(string folder, int size, TimeSpan duration)
    {
        var path = Path.Combine(folder, $"corfu-load-fio-{Environment.ProcessId}.tmp");
        var seconds = Math.Max(1, (int)duration.TotalSeconds);
        string[] arguments =
        [
            "--name=corfu", $"--filename={path}", "--rw=write", $"--bs={size}", "--size=64M", "--overwrite=1",
            "--ioengine=psync", "--fdatasync=1",
            "--time_based", string.Create(CultureInfo.InvariantCulture, $"--runtime={seconds}"), "--output-format=json",
        ];
        try
        {
            using var process =
                Process.Start(new ProcessStartInfo("fio", arguments) { RedirectStandardOutput = true })!;
            var text = await process.StandardOutput.ReadToEndAsync();
            await process.WaitForExitAsync();
            return process.ExitCode == 0
                ? Parse(text)
                : throw new IOException($"fio ended with exit code {process.ExitCode}.");
        }
        catch (Win32Exception)
        {
            return null;
        }
        finally
        {
            File.Delete(path);
        }
    }

    private static RoundResult Parse(string text)
    {
        using var json = JsonDocument.Parse(text[text.IndexOf('{')..]);
        var job = json.RootElement.GetProperty("jobs")[0];
        var write = job.GetProperty("write");
        var count = write.GetProperty("total_ios").GetInt64();
        var seconds = write.GetProperty("runtime").GetDouble() / 1000;
        // fio times the write and the sync apart; their medians add up closely enough, since the sync is nearly all of
        // it.
        double Quantile(string name) =>
            (write.GetProperty("clat_ns").GetProperty("percentile").GetProperty(name).GetDouble()
             + job.GetProperty("sync").GetProperty("lat_ns").GetProperty("percentile").GetProperty(name)
                 .GetDouble()) / 1000;
        return new RoundResult(count, seconds, Quantile("50.000000"), Quantile("99.000000"), Quantile("99.900000"), 0);
    }
}
