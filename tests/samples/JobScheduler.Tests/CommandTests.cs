using JobScheduler.Cli;
using JobScheduler.Workloads;

namespace JobScheduler.Tests;

public sealed class CommandTests
{
    [Fact]
    public async Task Defaults_equal_the_help_text()
    {
        (int code, SchedulerOptions? options, _) = await Invoke();
        Assert.Equal((0, new SchedulerOptions()), (code, options));
    }

    [Fact]
    public async Task All_options_arrive()
    {
        (_, SchedulerOptions? options, _) = await Invoke(
            "--trace", "a.swf", "--compress", "1.5", "--nodes", "64", "--replicas", "5", "--data", "d", "--run", "r");
        Assert.Equal(new SchedulerOptions
        {
            Trace = "a.swf",
            Compress = 1.5,
            Nodes = 64,
            Replicas = 5,
            Data = "d",
            Run = "r"
        }, options);
    }

    [Theory]
    [InlineData("--compress", "0")]
    [InlineData("--compress", "-2")]
    [InlineData("--compress", "NaN")]
    [InlineData("--compress", "1,5")]
    [InlineData("--nodes", "0")]
    [InlineData("--jobs", "0")]
    [InlineData("--replicas", "0")]
    [InlineData("--replicas", "17")]
    [InlineData("--replicas", "three")]
    [InlineData("--jobs", "many")]
    [InlineData("--orleans", "0")]
    [InlineData("--orleans", "9")]
    [InlineData("--orleans", "three")]
    [InlineData("--kills", "1")]
    [InlineData("--seed", "-1")]
    [InlineData("--connect", "localhost:1")]
    [InlineData("--connect", "corfu://host")]
    [InlineData("--trace", "")]
    [InlineData("--no-such-flag", "1")]
    [InlineData("stray", "argument")]
    public async Task Wrong_value_is_named_and_no_run_starts(string option, string value)
    {
        (int code, SchedulerOptions? options, string errors) = await Invoke(option, value);
        Assert.Equal((ExitCodes.Usage, null), (code, options));
        Assert.Contains("error: ", errors);
    }

    [Fact]
    public async Task Silos_and_kills_arrive()
    {
        (_, SchedulerOptions? options, _) = await Invoke("--orleans", "3", "--kills", "5");
        Assert.Equal(new SchedulerOptions { Silos = 3, Kills = 5 }, options);
        (_, options, _) = await Invoke("--orleans", "2");
        Assert.Equal(new SchedulerOptions { Silos = 2 }, options);
    }

    [Theory]
    [InlineData("-1")]
    [InlineData("101")]
    public async Task Kills_have_limits(string kills)
    {
        (int code, _, string errors) = await Invoke("--orleans", "3", "--kills", kills);
        Assert.Equal(ExitCodes.Usage, code);
        Assert.Contains("--kills must be 0 to 100.", errors);
    }

    [Fact]
    public async Task All_faults_are_told_at_once()
    {
        (_, _, string errors) = await Invoke("--nodes", "0", "--replicas", "99", "--compress", "x");
        Assert.Contains("--nodes", errors);
        Assert.Contains("--replicas", errors);
        Assert.Contains("--compress", errors);
    }

    [Theory]
    [InlineData("--connect", "corfu://h:1", "--data", "d")]
    [InlineData("--trace", "t", "--seed", "5")]
    [InlineData("--trace", "t", "--jobs", "5")]
    public async Task Options_that_contradict_each_other_are_refused(params string[] args) =>
        Assert.Equal(ExitCodes.Usage, (await Invoke(args)).Code);

    [Fact]
    public async Task Help_is_no_error() => Assert.Equal(ExitCodes.Success, (await Invoke("--help")).Code);

    [Fact]
    public void Without_a_trace_the_model_is_used_and_is_the_same_each_time()
    {
        var options = new SchedulerOptions { Jobs = 300, Nodes = 32, Seed = 9 };
        Workload workload = WorkloadSource.Load(options);
        Assert.Equal((300, 32), (workload.Jobs.Count, workload.Nodes));
        Assert.Equal(workload.Fingerprint(), WorkloadSource.Load(options).Fingerprint());
    }

    private static async Task<(int Code, SchedulerOptions? Options, string Errors)> Invoke(params string[] args)
    {
        SchedulerOptions? seen = null;
        var errors = new StringWriter();
        int code = await new SchedulerCommand(options =>
        {
            seen = options;
            return Task.FromResult(0);
        }, () => throw new InvalidOperationException("no silo")).InvokeAsync(args, errors);
        return (code, seen, errors.ToString());
    }
}
