using Corfu.WebConsole.Collecting;
using Corfu.WebConsole.Serving;
using Corfu.WebConsole.Views;

namespace Corfu.WebConsole.Tests;

/// <summary>Small parts of a page: texts, regions, numbers, charts.</summary>
public sealed class PartTests
{
    [Theory]
    [InlineData("<p>a&#x202E;b</p>", "<p>a\\u202eb</p>")]
    [InlineData("<p>a&#x1B;b</p>", "<p>a\\u001bb</p>")]
    [InlineData("<p>a&#x2014;b &amp; &#x;</p>", "<p>a&#x2014;b &amp; &#x;</p>")]
    [InlineData("<a href=\"x&#x202E;\">y</a>", "<a href=\"x&#x202E;\">y</a>")]
    public void Text_that_turns_direction_is_shown_as_codes(string html, string shown) =>
        Assert.Equal(shown, Harmless.TextOf(html));

    [Fact]
    public void Region_is_sent_again_after_a_change_only()
    {
        var regions = new Regions();
        const string First = """
            <live-region id="a" class="x">1</live-region><p></p><live-region id="b">2</live-region>
            """;
        Assert.Equal(["a", "b"], regions.TakeChanged(First).Keys);
        Assert.Empty(regions.TakeChanged(First));
        var changed = regions.TakeChanged(First.Replace(">2<", ">3<", StringComparison.Ordinal));
        Assert.Equal(("b", "3"), (Assert.Single(changed).Key, changed["b"]));
    }

    [Theory]
    [InlineData(18204411, "18\u202f204\u202f411")]
    [InlineData(-1204, "\u22121\u202f204")]
    [InlineData(7, "7")]
    public void Number_has_groups_of_three_digits(long value, string text) => Assert.Equal(text, Say.Number(value));

    [Theory]
    [InlineData(512, "512\u00a0B")]
    [InlineData(1536, "1.5\u00a0KiB")]
    [InlineData(412L << 30, "412\u00a0GiB")]
    public void Size_has_the_largest_unit_that_fits(long bytes, string text) => Assert.Equal(text, Say.Bytes(bytes));

    [Theory]
    [InlineData(0.0123, "12\u00a0ms")]
    [InlineData(3.21, "3.2\u00a0s")]
    [InlineData(75, "1\u00a0min")]
    [InlineData(11_000, "3\u00a0h 3\u00a0min")]
    public void Duration_has_two_units_at_most(double seconds, string text) =>
        Assert.Equal(text, Say.Duration(TimeSpan.FromSeconds(seconds)));

    [Fact]
    public void Chart_keeps_every_point_inside_the_box()
    {
        var at = DateTimeOffset.UnixEpoch;
        var chart = new ChartGeometry(
            [.. Enumerable.Range(0, 60).Select(i => new Point(at.AddSeconds(i), i % 7 * 31.5))], 240, 44,
            TimeSpan.FromSeconds(60));
        Assert.Equal(200, chart.Top);
        var numbers = chart.Line().Split(['M', 'L', ' '], StringSplitOptions.RemoveEmptyEntries)
            .Select(text => double.Parse(text, System.Globalization.CultureInfo.InvariantCulture)).ToArray();
        Assert.Equal(120, numbers.Length);
        Assert.All(numbers.Where((_, i) => i % 2 == 0), static x => Assert.InRange(x, 0, 240));
        Assert.All(numbers.Where((_, i) => i % 2 == 1), static y => Assert.InRange(y, 0, 44));
    }

    [Fact]
    public void Chart_of_less_than_two_points_is_empty() =>
        Assert.True(
            new ChartGeometry([new Point(DateTimeOffset.UnixEpoch, 1)], 240, 44, TimeSpan.FromSeconds(9)).IsEmpty);
}
