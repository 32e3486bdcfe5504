using Corfu.Load.Suite;
using Corfu.Load.Suite.Html;

namespace Corfu.Load.Tests;

/// <summary>A written report can be read again, and a file that is no report is refused.</summary>
public sealed class ReportFilesTests : IDisposable
{
    private readonly string _folder = Directory.CreateTempSubdirectory("corfu-load-tests-").FullName;

    public void Dispose() => Directory.Delete(_folder, recursive: true);

    [Fact]
    public async Task Report_survives_being_written_and_read()
    {
        var report = Reports.Of(Reports.Scenario("append", 0.4, 0.5, 0.6), Reports.Failed("read"));
        var files = new ReportFiles(_folder);
        await files.WriteJsonAsync(report);

        var read = ReportFiles.Read(files.JsonPath);

        Assert.Equal(1, read.Failed);
        Assert.Equal(1, read.WithBaselines);
        var point = Assert.Single(read.Scenarios[0].Points);
        Assert.Equal([0.4, 0.5, 0.6], point.Ratios.Select(ratio => Math.Round(ratio, 9)));
        Assert.Equal(500, point.Median.PerSecond, 6);
        Assert.Equal(report.Header, read.Header);
    }

    [Fact]
    public async Task An_earlier_report_is_kept()
    {
        var files = new ReportFiles(_folder);
        await files.WriteJsonAsync(Reports.Of(Reports.Scenario("append", 0.5)));

        await new ReportFiles(_folder).WriteJsonAsync(Reports.Of(Reports.Scenario("read", 0.5)));

        var previous = ReportFiles.Read(Path.Combine(_folder, "previous.json"));
        Assert.Equal("append", Assert.Single(previous.Scenarios).Info.Name);
    }

    [Theory]
    [InlineData("", "no report")]
    [InlineData("{", "no report")]
    [InlineData("[]", "no report")]
    [InlineData("{}", "no report")]
    [InlineData("""{"verb":"append","rounds":[]}""", "no report")]
    [InlineData("""{"kind":"corfu-load-report","format":2,"header":{},"scenarios":[]}""", "format 2")]
    [InlineData("""{"kind":"corfu-load-report","format":1,"header":{},"scenarios":[{"points":[]}]}""", "incomplete")]
    public void File_that_is_no_report_is_refused(string text, string reason)
    {
        var path = Path.Combine(_folder, "other.json");
        File.WriteAllText(path, text);

        Assert.Contains(reason, Assert.Throws<ReportException>(() => ReportFiles.Read(path)).Message);
    }

    [Fact]
    public void A_missing_file_is_named()
    {
        var path = Path.Combine(_folder, "missing.json");

        Assert.Contains("missing.json", Assert.Throws<ReportException>(() => ReportFiles.Read(path)).Message);
    }

    [Fact]
    public void Page_loads_no_resource_and_shows_every_scenario()
    {
        var timeline = new Timeline("unit killed", 10, 2, 20, [5, 5, 0, 0, 5]);
        var page = HtmlReport.Render(Reports.Of(
            Reports.Scenario("append", 0.4, 0.5, 0.6) with { Timelines = [timeline] }, Reports.Failed("read")));

        foreach (var loading in new[] { "src=", "<script", "<link", "url(http", "@import" })
            Assert.DoesNotContain(loading, page, StringComparison.OrdinalIgnoreCase);
        Assert.Contains("id=\"append\"", page, StringComparison.Ordinal);
        Assert.Contains("IOException: &lt;gone&gt;", page, StringComparison.Ordinal);
        // The page has a picture for each way to draw it; no colour is left that its themes do not know.
        Assert.Equal(4, page.Split("<svg").Length - 1);
        Assert.DoesNotContain("rgb(1,", page, StringComparison.Ordinal);
        var ids = page.Split("id=\"").Skip(1).Select(part => part[..part.IndexOf('"')]).ToArray();
        Assert.Equal(ids.Distinct(), ids);
    }
}
