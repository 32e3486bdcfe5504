using System.Globalization;
using System.Text.Json;

namespace Corfu.Load;

/// <summary>The table for people, then the JSON line for tools.</summary>
internal static class ReportWriter
{
    public static async Task WriteAsync(RunReport report, TextWriter output)
    {
        var p = report.Parameters;
        await output.WriteLineAsync(string.Create(
            CultureInfo.InvariantCulture,
            $"{report.Verb}: {p.Processes} processes, {p.InFlight} in flight, {p.Size} bytes, {report.Rounds.Count} "
            + $"rounds of {p.Seconds} s, {p.Target}"));
        await output.WriteLineAsync($"{report.Run.Machine}, commit {report.Run.Commit}");
        await WriteHeadAsync(output);
        for (var i = 0; i < report.Rounds.Count; i++) await WriteAsync(output, $"round {i + 1}", report.Rounds[i]);
        await WriteAsync(output, "median", report.Median);
        await WriteAsync(output, "bare echo", report.Echo);
        await WriteAsync(output, "write+fdatasync", report.Disk);
        await WriteAsync(output, "the same by fio", report.Fio);
        if (report.RatioToEcho is { } echo)
            await output.WriteLineAsync(string.Create(CultureInfo.InvariantCulture,
                $"  throughput: {echo:0.000} of the bare echo"));
        if (report.RatioToDisk is { } disk)
            await output.WriteLineAsync(string.Create(CultureInfo.InvariantCulture,
                $"  p50: {disk:0.00} x write+fdatasync"));
        await output.WriteLineAsync(JsonSerializer.Serialize(report, LoadJson.Default.RunReport));
    }

    public static Task WriteHeadAsync(TextWriter output) => output.WriteLineAsync(
        $"  {"",-16} {"per second",12} {"p50 us",10} {"p99 us",10} {"p99.9 us",10} {"failures",9}");

    public static async Task WriteAsync(TextWriter output, string name, RoundResult? result)
    {
        if (result is null) return;
        await output.WriteLineAsync(string.Create(
            CultureInfo.InvariantCulture,
            $"  {name,-16} {result.PerSecond,12:0} {result.P50,10:0.0} {result.P99,10:0.0} {result.P999,10:0.0} "
            + $"{result.Failures,9}"));
    }
}
