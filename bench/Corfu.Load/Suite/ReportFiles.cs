using System.Text.Json;
using Corfu.Load.Suite.Html;

namespace Corfu.Load.Suite;

/// <summary><c>report.json</c> and <c>report.html</c> in one folder. Those of an earlier run are kept as
/// <c>previous.*</c>.</summary>
internal sealed class ReportFiles
{
    private readonly string _folder;

    /// <exception cref="IOException">The folder cannot be written to.</exception>
    public ReportFiles(string folder)
    {
        _folder = Path.GetFullPath(folder);
        Directory.CreateDirectory(_folder);
        foreach (var (name, kept) in new[] { (JsonPath, "previous.json"), (HtmlPath, "previous.html") })
        {
            if (File.Exists(name)) File.Move(name, Path.Combine(_folder, kept), overwrite: true);
        }

        // A run of minutes must not end with a folder that cannot be written to.
        File.WriteAllText(JsonPath, "");
    }

    public string JsonPath => Path.Combine(_folder, "report.json");

    public string HtmlPath => Path.Combine(_folder, "report.html");

    public async Task WriteJsonAsync(SuiteReport report)
    {
        // Whole or not at all: a reader never meets half of it.
        var next = JsonPath + ".next";
        await File.WriteAllTextAsync(next, JsonSerializer.Serialize(report, SuiteJson.Default.SuiteReport));
        File.Move(next, JsonPath, overwrite: true);
    }

    public Task WriteHtmlAsync(SuiteReport report) => File.WriteAllTextAsync(HtmlPath, HtmlReport.Render(report));

    /// <exception cref="ReportException">The file is no report, or one of another format.</exception>
    public static SuiteReport Read(string path)
    {
        SuiteReport? report;
        try
        {
            report = JsonSerializer.Deserialize(File.ReadAllText(path), SuiteJson.Default.SuiteReport);
        }
        catch (JsonException e)
        {
            throw new ReportException($"{path} is no report of 'all': {e.Message}");
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new ReportException(e.Message);
        }

        if (report is not { Kind: SuiteReport.FileKind, Header: not null, Scenarios: not null })
            throw new ReportException($"{path} is no report of 'all'.");
        if (report.Format != SuiteReport.FileFormat)
            throw new ReportException(
                $"{path} has format {report.Format}; this program reads format {SuiteReport.FileFormat}.");
        if (report.Scenarios.Any(static scenario => scenario is not { Info.Name: not null, Points: not null }
            || scenario.Points.Any(static point => point is not { Rounds.Count: > 0, Echo: not null, Disk: not null })))
            throw new ReportException($"{path} is incomplete.");
        return report;
    }
}

/// <summary>A file that cannot be used as a report, or two that cannot be compared.</summary>
internal sealed class ReportException(string message) : Exception(message);
