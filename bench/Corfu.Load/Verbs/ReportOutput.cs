using System.CommandLine;
using System.Text.Json;

namespace Corfu.Load;

/// <summary>Output of a report: the console, and a file of JSON lines if one was named.</summary>
internal static class ReportOutput
{
    public static async Task<int> WriteAsync(ParseResult result, LoadOptions options, RunReport report)
    {
        await ReportWriter.WriteAsync(report, Console.Out);
        await AppendAsync(result, options, JsonSerializer.Serialize(report, LoadJson.Default.RunReport));
        return report.Median.Operations > 0 ? 0 : 1;
    }

    public static async Task<int> WriteAsync(ParseResult result, LoadOptions options, GrpcReport report)
    {
        await report.WriteAsync(Console.Out);
        await AppendAsync(result, options, JsonSerializer.Serialize(report, LoadJson.Default.GrpcReport));
        return report.Median.Operations > 0 ? 0 : 1;
    }

    private static async Task AppendAsync(ParseResult result, LoadOptions options, string json)
    {
        if (result.GetValue(options.Output) is { } file) await File.AppendAllTextAsync(file.FullName, json + "\n");
    }
}
