using System.Globalization;
using Corfu.Agent;

namespace Corfu.Cli;

/// <summary>Shows long work on standard error while it runs. Interrupted, the same command goes on where it was.</summary>
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

    public static string Line(RebuildProgress progress) => progress.Total == 0 ? "" : Line("copying", progress.Done, progress.Total, progress.Remaining) +
        (progress.Trouble is { } trouble ? $" ({trouble})" : "");

    public static string Line(string what, long done, long total, TimeSpan? remaining) => string.Create(
        CultureInfo.InvariantCulture,
        $"{what}: {done} of {total} positions, {(total == 0 ? 100 : 100.0 * done / total):0} %{(remaining is { } left ? $", {left.TotalSeconds:0} s left" : "")}");
}
