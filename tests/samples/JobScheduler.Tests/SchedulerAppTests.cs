using System.Globalization;
using System.Text.RegularExpressions;
using JobScheduler.App;
using JobScheduler.Cli;
using JobScheduler.Reporting;
using JobScheduler.Workloads;
using Tango.Testing;

namespace JobScheduler.Tests;

/// <summary>The whole sample on a log in memory.</summary>
public sealed class SchedulerAppTests
{
    private readonly InMemoryCorfuLog _log = new();

    [Theory]
    [InlineData(1, 1UL)]
    [InlineData(3, 2UL)]
    [InlineData(5, 3UL)]
    public async Task Replicas_end_with_the_plain_schedule(int replicas, ulong seed)
    {
        var options = new SchedulerOptions { Jobs = 400, Seed = seed, Nodes = 64, Replicas = replicas };
        (int code, string output, string errors) = await Run(options);
        Assert.True(code == ExitCodes.Success, output + errors);
        Assert.Matches(
            @"^jobs=400 done=400 lost=0 duplicate=0 overcommitted=0 nodes_free=64 schedule=match "
            + @"transactions=\d+ aborted=\d+ seconds=\d+\.\d\d$",
            LastLine(output));
        Assert.Equal(replicas, Shares(output).Length);
        Assert.All(Shares(output), share => Assert.True(share >= 10, $"a replica committed {share} %\n{output}"));
    }

    [Fact]
    public async Task A_lightly_loaded_trace_ends_with_the_plain_schedule()
    {
        var workload = new Workload("light", 16,
            Enumerable.Range(0, 300).Select(i => new Job(i, i * 100, 150, 1 + i % 5, i % 4)));
        (int code, string output, string errors) = await Run(new SchedulerOptions(), workload);
        Assert.True(code == ExitCodes.Success, output + errors);
    }

    [Fact]
    public async Task A_run_of_one_job_ends()
    {
        (int code, string output, _) = await Run(new SchedulerOptions(),
            new Workload("one", 4, [new Job(5, 10, 0, 4, -1)]));
        Assert.Equal(ExitCodes.Success, code);
        Assert.StartsWith("jobs=1 done=1 lost=0", LastLine(output));
    }

    [Fact]
    public async Task Stopped_run_continues_from_the_last_state()
    {
        var options = new SchedulerOptions { Jobs = 600, Seed = 4 };
        for (int stops = 0; stops < 3; stops++)
        {
            using var stop = new CancellationTokenSource();
            var stopper = new StopAtProgress(stop, (stops + 1) * 100);
            await Assert.ThrowsAnyAsync<OperationCanceledException>(() => Run(options, null, stopper, stop.Token));
        }

        (int code, string output, string errors) = await Run(options);
        Assert.True(code == ExitCodes.Success, output + errors);
        Match resumed = Regex.Match(output, @"resuming: (\d+) of 600 jobs are done");
        Assert.True(resumed.Success && int.Parse(resumed.Groups[1].Value, CultureInfo.InvariantCulture) >= 250, output);
        Assert.StartsWith("jobs=600 done=600 lost=0 duplicate=0", LastLine(output));
    }

    [Fact]
    public async Task A_finished_run_is_only_checked_again()
    {
        var options = new SchedulerOptions { Jobs = 50 };
        (_, string first, _) = await Run(options);
        (int code, string second, _) = await Run(options);
        Assert.Equal(ExitCodes.Success, code);
        Assert.Equal(Transactions(first), Transactions(second));
    }

    /// <summary>All replicas end at nearly the same moment, which once broke the wait for them.</summary>
    [Fact]
    public async Task Ending_at_once_is_no_failure()
    {
        var options = new SchedulerOptions { Jobs = 1, Replicas = 8 };
        for (int i = 0; i < 50; i++)
            Assert.Equal(ExitCodes.Success, (await Run(options)).Code);
    }

    [Fact]
    public async Task Another_workload_is_refused_under_the_same_run_name()
    {
        await Run(new SchedulerOptions { Jobs = 20, Run = "r" });
        (int code, _, string errors) = await Run(new SchedulerOptions { Jobs = 21, Run = "r" });
        Assert.Equal(ExitCodes.Usage, code);
        Assert.Contains("another workload", errors);
    }

    [Fact]
    public async Task Runs_of_different_workloads_share_a_log()
    {
        Assert.Equal(ExitCodes.Success, (await Run(new SchedulerOptions { Jobs = 20 })).Code);
        Assert.Equal(ExitCodes.Success, (await Run(new SchedulerOptions { Jobs = 21 })).Code);
    }

    private static string LastLine(string output) => output.TrimEnd().Split('\n')[^1].TrimEnd();

    private static string Transactions(string output) => Regex.Match(LastLine(output), @"transactions=\d+").Value;

    private static double[] Shares(string output) =>
        [.. Regex.Matches(output, @"replica \d+ .* = ([\d.]+) ?%")
            .Select(match => double.Parse(match.Groups[1].Value, CultureInfo.InvariantCulture))];

    private async Task<(int Code, string Output, string Errors)> Run(
        SchedulerOptions options, Workload? workload = null, IProgressDisplay? display = null,
        CancellationToken cancellationToken = default)
    {
        var output = new StringWriter();
        var errors = new StringWriter();
        var app = new SchedulerApp(
            options, workload ?? WorkloadSource.Load(options), new InMemoryLogSource(_log), output, errors,
            display ?? new NoDisplay());
        int code = await app.RunAsync(cancellationToken);
        return (code, output.ToString(), errors.ToString());
    }

    private sealed class NoDisplay : IProgressDisplay
    {
        public Task RunAsync(Func<ProgressSnapshot> snapshot, CancellationToken stop) => Task.CompletedTask;
    }

    /// <summary>Pulls the plug once enough jobs are done.</summary>
    private sealed class StopAtProgress(CancellationTokenSource source, int jobs) : IProgressDisplay
    {
        public async Task RunAsync(Func<ProgressSnapshot> snapshot, CancellationToken stop)
        {
            while (snapshot().JobsDone < jobs && !stop.IsCancellationRequested)
                await Task.Yield();
            await source.CancelAsync();
        }
    }
}
