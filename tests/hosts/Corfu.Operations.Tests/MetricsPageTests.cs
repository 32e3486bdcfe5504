using System.Text.RegularExpressions;

namespace Corfu.Operations.Tests;

public sealed partial class MetricsPageTests
{
    [Fact]
    public void Page_lists_the_instruments_of_the_code()
    {
        var page = MetricsPage.Write();
        if (Environment.GetEnvironmentVariable("CORFU_WRITE_PAGES") == "1")
            File.WriteAllText(Path.Combine(Repo.Root, MetricsPage.Path), page);
        Assert.True(page == Repo.Read(MetricsPage.Path),
            $"{MetricsPage.Path} is old: run these tests with CORFU_WRITE_PAGES=1.");
    }

    [Fact]
    public void Attributes_belong_to_instruments_that_exist() =>
        Assert.Empty(MetricsPage.Attributes.Keys.Except(PublishedInstruments.All.Select(own => own.Name)));

    [Fact]
    public void Name_and_unit_follow_the_conventions() =>
        Assert.All(PublishedInstruments.All, instrument =>
        {
            Assert.Matches(Names(), instrument.Name);
            Assert.Matches(Units(), instrument.Unit);
            Assert.EndsWith(".", instrument.Description, StringComparison.Ordinal);
            Assert.DoesNotContain("total", instrument.Name, StringComparison.Ordinal);
        });

    [GeneratedRegex(@"^(corfu|tango|craq|salus)(\.[a-z]+(_[a-z]+)*)+$")]
    private static partial Regex Names();

    [GeneratedRegex(@"^(s|By|\{[a-z]+\})$")]
    private static partial Regex Units();
}
