using JobScheduler.Reference;
using JobScheduler.Workloads;
using JobScheduler.Workloads.Model;

namespace JobScheduler.Tests;

/// <summary>Claims of Lublin and Feitelson (2003) that a faithful generator must show, within sampling error (fixed
/// seeds).</summary>
public sealed class ModelTests
{
    private const int Sample = 20_000;

    private static readonly Workload Raw = LublinFeitelsonModel.Generate(Sample, 128, 7);

    [Fact]
    public void A_seed_means_the_same_jobs_for_ever()
    {
        Workload first = LublinFeitelsonModel.Generate(200, 128, 1);
        Assert.Equal(first.Fingerprint(), LublinFeitelsonModel.Generate(200, 128, 1).Fingerprint());
        Assert.NotEqual(first.Fingerprint(), LublinFeitelsonModel.Generate(200, 128, 2).Fingerprint());
    }

    [Fact]
    public void The_generator_gives_the_published_values()
    {
        // Reference values of xoshiro256** from the state SplitMix64(0) gives.
        var random = new ModelRandom(0);
        Assert.Equal(0x99EC5F36CB75F2B4UL, random.NextBits());
        Assert.Equal(0xBF6E1F784956452AUL, random.NextBits());
    }

    [Fact]
    public void Serial_jobs_have_the_configured_share() => Assert.Equal(0.244, Share(job => job.Nodes == 1), 0.02);

    [Fact]
    public void Powers_of_two_are_favoured() =>
        Assert.InRange(Share(job => job.Nodes > 1 && (job.Nodes & (job.Nodes - 1)) == 0), 0.576, 0.70);

    [Fact]
    public void Sizes_fit_a_machine_that_is_no_power_of_two()
    {
        foreach (int nodes in new[] { 1, 2, 3, 100, 1000 })
            Assert.All(LublinFeitelsonModel.Generate(2000, nodes, 3).Jobs, job => Assert.InRange(job.Nodes, 1, nodes));
    }

    [Fact]
    public void Larger_jobs_run_longer()
    {
        double small = Raw.Jobs.Where(job => job.Nodes <= 2).Average(job => Math.Log(job.RunSeconds + 1));
        double large = Raw.Jobs.Where(job => job.Nodes >= 32).Average(job => Math.Log(job.RunSeconds + 1));
        Assert.True(large > small + 0.5, $"mean log run time: small {small}, large {large}");
    }

    [Fact]
    public void Run_times_follow_the_hyper_gamma_mix()
    {
        // Serial jobs: p = 0.78 - 0.0054; E = p * 4.2 * 0.94 + (1 - p) * 312 * 0.03.
        const double p = 0.7746;
        double mean = Raw.Jobs.Where(job => job.Nodes == 1).Average(job => Math.Log(job.RunSeconds + 0.5));
        Assert.Equal(p * 3.948 + (1 - p) * 9.36, mean, 0.15);
        Assert.All(Raw.Jobs, job => Assert.True(job.RunSeconds <= Math.Exp(12)));
    }

    [Fact]
    public void Afternoons_are_busy_and_nights_are_quiet()
    {
        int[] perHour = new int[24];
        foreach (Job job in Raw.Jobs)
            perHour[job.SubmitSeconds / 3600 % 24]++;
        Assert.True(perHour[14] > 4 * perHour[4], $"14 h: {perHour[14]}, 4 h: {perHour[4]}");
        double[] weights = ArrivalProcess.DailyWeights();
        Assert.Equal(48, weights.Sum(), 1e-9);
        Assert.InRange(Array.IndexOf(weights, weights.Max()), 24, 32);
    }

    [Theory]
    [InlineData(4.2, 0.94)]
    [InlineData(312, 0.03)]
    [InlineData(0.5, 2)]
    public void Gamma_samples_have_the_mean_variance_and_distribution(double shape, double scale)
    {
        var gamma = new GammaDistribution(shape, scale);
        var random = new ModelRandom(11);
        double[] values = [.. Enumerable.Range(0, Sample).Select(_ => gamma.Sample(random))];
        double mean = values.Average();
        Assert.Equal(1, mean / (shape * scale), 0.03);
        Assert.Equal(1, values.Average(v => (v - mean) * (v - mean)) / (shape * scale * scale), 0.08);
        foreach (double quantile in new[] { 0.1, 0.5, 0.9 })
            Assert.Equal(quantile, gamma.Cumulative(values.Order().ElementAt((int)(quantile * Sample))), 0.02);
    }

    [Theory]
    [InlineData(1, 1, 1.0, 0.6321205588285577)]
    [InlineData(2, 1, 3.0, 0.8008517265285442)]
    public void Gamma_distribution_function_has_known_values(double shape, double scale, double x, double expected) =>
        Assert.Equal(expected, new GammaDistribution(shape, scale).Cumulative(x), 1e-10);

    [Theory]
    [InlineData(1UL)]
    [InlineData(2UL)]
    [InlineData(3UL)]
    [InlineData(42UL)]
    public void Calibrated_workloads_wait_and_keep_sizes_and_run_times(ulong seed)
    {
        Workload raw = LublinFeitelsonModel.Generate(5000, 128, seed);
        Workload loaded = LoadCalibration.Apply(raw);
        Assert.True(ReferenceScheduler.Run(loaded).Count(entry => entry.WaitSeconds > 0) >= 0.3 * 5000);
        Assert.Equal(raw.Jobs.Select(job => (job.Number, job.Nodes, job.RunSeconds)),
            loaded.Jobs.Select(job => (job.Number, job.Nodes, job.RunSeconds)));
    }

    [Fact]
    public void Jobs_that_all_arrive_at_once_are_left_alone()
    {
        var workload = new Workload("t", 4, [new Job(1, 5, 10, 1, 1)]);
        Assert.Same(workload, LoadCalibration.Apply(workload));
    }

    private static double Share(Func<Job, bool> predicate) => Raw.Jobs.Count(predicate) / (double)Sample;
}
