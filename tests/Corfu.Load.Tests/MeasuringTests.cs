using Corfu.Load.Suite;
using Corfu.Load.Suite.Html;

namespace Corfu.Load.Tests;

/// <summary>Figures: percentiles, medians, keys, gaps.</summary>
public sealed class MeasuringTests
{
    [Fact]
    public void Latencies_go_from_process_to_process()
    {
        var histogram = Latencies.Create();
        for (var i = 1; i <= 1000; i++) histogram.RecordNanoseconds(i * 1000L);

        var decoded = Latencies.Decode(histogram.Encode());
        decoded.Add(Latencies.Decode(Latencies.Create().Encode()));

        Assert.Equal(1000, decoded.TotalCount);
        foreach (var percent in new[] { 50, 99, 99.9 })
            Assert.InRange(decoded.Microseconds(percent), percent * 10 * 0.99, percent * 10 * 1.01);
    }

    [Fact]
    public void Latencies_out_of_range_are_counted_at_the_ends()
    {
        var histogram = Latencies.Create();
        histogram.RecordNanoseconds(-1);
        histogram.RecordNanoseconds(long.MaxValue);

        Assert.Equal(2, histogram.TotalCount);
        Assert.Equal(0, Latencies.Create().Microseconds(50));
    }

    [Fact]
    public void Middle_of_an_even_number_is_the_mean_of_two()
    {
        Assert.Equal(3, RoundResult.Middle([1, 2, 4, 9]));
        Assert.Equal(2, RoundResult.Middle([9, 2, 1]));
    }

    [Fact]
    public void Percentile_needs_ten_samples_beyond()
    {
        var histogram = Latencies.Create();
        for (var i = 0; i < 1000; i++) histogram.RecordNanoseconds(i);

        Assert.Equal(99, PointRecorder.Percentiles(histogram)[^1].Percent);
        Assert.Empty(PointRecorder.Percentiles(Latencies.Create()));
    }

    [Fact]
    public void A_median_is_each_figures_own()
    {
        var median = RoundResult.Median(
        [
            new RoundResult(10, 1, 5, 9, 9, 0), new RoundResult(30, 1, 3, 8, 9, 1), new RoundResult(20, 1, 4, 7, 9, 1),
        ]);

        Assert.Equal((20, 4, 8, 2), (median.Operations, median.P50, median.P99, median.Failures));
    }

    [Fact]
    public void Goodput_counts_only_committed_transactions()
    {
        var round = new RoundResult(100, 2, 1, 1, 1, 0, Aborted: 40);

        Assert.Equal((50, 30), (round.PerSecond, round.Goodput));
    }

    [Fact]
    public void Zipf_keys_follow_the_weights()
    {
        const int keys = 1000;
        const int samples = 200_000;
        var (picker, random, counts) = (new KeyPicker(keys, zipf: true), new Random(1), new int[keys]);
        for (var i = 0; i < samples; i++) counts[picker.Next(random)]++;

        var sum = Enumerable.Range(1, keys).Sum(rank => Math.Pow(rank, -KeyPicker.Exponent));
        foreach (var rank in new[] { 1, 2, 10, 100 })
        {
            var expected = samples * Math.Pow(rank, -KeyPicker.Exponent) / sum;
            Assert.InRange(counts[rank - 1], expected * 0.8, expected * 1.2);
        }
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void Keys_of_a_transaction_differ(bool zipf)
    {
        var (picker, random, keys) = (new KeyPicker(6, zipf), new Random(1), new int[6]);

        picker.Fill(random, keys);

        Assert.Equal(Enumerable.Range(0, 6), keys.Order());
    }

    [Fact]
    public void The_longest_gap_is_an_outage()
    {
        Assert.Equal(30, TimedAppends.LongestGap([1, 0, 0, 2, 0, 0, 0, 1, 0]));
        Assert.Equal(0, TimedAppends.LongestGap([1, 1]));
    }

    [Fact]
    public void Names_of_scenarios_and_cases_are_distinct()
    {
        var names = ScenarioList.All.Select(scenario => scenario.Info.Name).ToArray();

        Assert.Equal(names.Distinct(), names);
    }

    [Theory]
    [InlineData(0.5, "0.5 µs")]
    [InlineData(12.34, "12.3 µs")]
    [InlineData(1234, "1.23 ms")]
    [InlineData(2_500_000, "2.5 s")]
    public void Times_have_three_digits_and_a_unit(double microseconds, string text) =>
        Assert.Equal(text, Figures.Time(microseconds));

    [Theory]
    [InlineData(0.0042, "0.0042")]
    [InlineData(7, "7")]
    [InlineData(4321, "4,321")]
    [InlineData(54_321, "54.3k")]
    [InlineData(1_234_567, "1.23M")]
    public void Counts_have_three_digits(double value, string text) => Assert.Equal(text, Figures.Count(value));
}
