using System.Globalization;
using Corfu.Agent;

namespace Corfu.Cli;

/// <summary>Shows long work on standard error while it runs. Interrupted, the same command goes on where it
/// was.</summary>
internal static class Progress
{
    private static readonly TimeSpan Interval = TimeSpan.FromMilliseconds(500);

    public static async Task<T> ShowAsync<T>(TextWriter error, Func<RebuildProgress> progress, Task<T> work)
    {
        var last = "";
        while (await Task.WhenAny(work, Task.Delay(Interval)) != work)
        {
            var line = Line(progress());
            if (line != last && line.Length > 0) await error.WriteLineAsync(line);
            last = line;
        }

        return await work;
    }

    public static string Line(RebuildProgress progress) => progress.Total == 0
        ? ""
        : Line("copying", progress.Done, progress.Total, progress.CopiedBytes, progress.Elapsed, progress.Remaining)
            + (progress.Trouble is { } trouble ? $" ({trouble})" : "");

    public static string Line(string what, long done, long total, long bytes, TimeSpan elapsed, TimeSpan? remaining)
    {
        var line = string.Create(CultureInfo.InvariantCulture,
            $"{what}: {done} of {total} positions, {(total == 0 ? 100 : 100.0 * done / total):0} %");
        if (elapsed > TimeSpan.Zero && done > 0)
            line += string.Create(CultureInfo.InvariantCulture, $", {done / elapsed.TotalSeconds:0} positions/s");
        if (elapsed > TimeSpan.Zero && bytes > 0)
            line += string.Create(CultureInfo.InvariantCulture,
                $", {bytes / 1e6:0.0} MB at {bytes / 1e6 / elapsed.TotalSeconds:0.0} MB/s");
        return remaining is { } left
            ? line + string.Create(CultureInfo.InvariantCulture, $", {left.TotalSeconds:0} s left")
            : line;
    }
}
