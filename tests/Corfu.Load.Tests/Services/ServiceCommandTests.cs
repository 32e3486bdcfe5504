using System.CommandLine;
using Corfu.Load.Suite;

namespace Corfu.Load.Tests;

/// <summary>Options of <c>ledgers</c>, <c>store</c>, <c>etcd</c> and <c>machines</c>, and the table of their
/// points.</summary>
public sealed class ServiceCommandTests
{
    private const string Load = "128 B, 64 in flight";

    private static readonly RunInfo s_run = new("2 x P", "abc", ".NET", DateTimeOffset.UnixEpoch);

    private static readonly string[] s_names = ["ledgers", "store", "etcd", "machines"];

    public static TheoryData<string> Names => [.. s_names];

    [Theory]
    [MemberData(nameof(Names))]
    public void Service_options_are_taken(string name)
    {
        Assert.Empty(CommandOf(name).Parse([]).Errors);
        Assert.Empty(CommandOf(name).Parse(
            ["--quick", "--rounds", "3", "--seconds", "0.5", "--dir", "data", "--report", "page.md"]).Errors);
    }

    [Theory]
    [InlineData("ledgers", "--section", "append")]
    [InlineData("store", "--section", "put", "multi-get")]
    [InlineData("etcd", "--section", "range")]
    [InlineData("machines", "--section", "opening")]
    public void Sections_of_a_service_are_taken(string name, params string[] arguments) =>
        Assert.Empty(CommandOf(name).Parse(arguments).Errors);

    [Theory]
    [InlineData("--section", "none")]
    [InlineData("--rounds", "0")]
    [InlineData("--rounds", "1001")]
    [InlineData("--seconds", "0")]
    [InlineData("--seconds", "NaN")]
    [InlineData("--seconds", "1e300")]
    [InlineData("--report", "no-such-folder/page.md")]
    [InlineData("--unknown", "1")]
    public void Service_options_out_of_range_are_refused(params string[] arguments)
    {
        foreach (var name in s_names) Assert.NotEmpty(CommandOf(name).Parse(arguments).Errors);
    }

    [Fact]
    public void Ratio_of_two_systems_is_the_median_of_the_rounds()
    {
        var points = new ServicePoints([Point("a", [100, 300, 200]), Point("b", [200, 100, 100])]);

        Assert.Equal(2, points.Ratio("a", "b", Load));
        Assert.Equal(200, ServicePoints.Rate(points.Find("a", Load)!.Rounds));
        Assert.Null(points.Ratio("a", "c", Load));
        Assert.Null(points.Ratio("a", "b", "other load"));
    }

    [Fact]
    public void Row_has_the_spread_the_baseline_and_the_processor_time()
    {
        var section = new FigureSection("put", "Puts");

        new ServicePoints([Point("a", [100, 300, 200])]).AddTo(section);

        var page = section.ToMarkdown();
        Assert.Contains($"| a | {Load} | 200 | 100 to 300 | 1.0 | 2.0 | 0.20 | 50.0 | 25.0 |", page);
        Assert.DoesNotContain("failures", page);
        Assert.Contains($"{Load} 1,000/s (p50 1 us)", page);
        Assert.Empty(section.Problems);
    }

    [Fact]
    public void Point_with_failures_is_a_problem()
    {
        var section = new FigureSection("put", "Puts");

        new ServicePoints([Point("a", [100], failures: 3)]).AddTo(section);

        Assert.Equal([$"a, {Load}: 3 failures"], section.Problems);
    }

    [Fact]
    public void Echo_with_failures_is_a_problem()
    {
        var section = new FigureSection("put", "Puts");
        var point = Point("a", [100]) with { Echo = [new RoundResult(1000, 1, 1, 1, 1, 2)] };

        new ServicePoints([point]).AddTo(section);

        Assert.Equal([$"bare echo of a, {Load}: 2 failures"], section.Problems);
    }

    [Fact]
    public void Put_whose_revision_does_not_rise_is_a_failure()
    {
        var revisions = new RisingRevisions(2);
        revisions.Next(0, 5);
        revisions.Next(1, 4);

        Assert.Throws<CorfuException>(() => revisions.Next(0, 5));
    }

    [Fact]
    public async Task Folder_of_an_earlier_run_is_refused()
    {
        var folder = Directory.CreateTempSubdirectory("corfu-load-");
        try
        {
            folder.CreateSubdirectory(SuiteClusters.Prefix + "0");
            await Assert.ThrowsAsync<IOException>(() => CommandOf("ledgers").Parse(["--dir", folder.FullName])
                .InvokeAsync(new InvocationConfiguration { EnableDefaultExceptionHandler = false },
                    TestContext.Current.CancellationToken));
        }
        finally
        {
            folder.Delete(recursive: true);
        }
    }

    [Fact]
    public async Task Server_without_a_store_answers_puts_with_rising_revisions()
    {
        await using var server = await EtcdServerCommand.StartEmptyAsync(TestContext.Current.CancellationToken);
        await using var workload = new EtcdWorkload(WorkloadKind.EtcdPut, server.Urls.First(), connections: 2);
        var put = workload.Prepare(callers: 3, size: 16);

        for (var i = 0; i < 6; i++) await put(i % 3);

        // The next round's callers begin anew.
        await workload.Prepare(callers: 1, size: 16)(0);
    }

    [Fact]
    public void Last_line_has_the_figures_of_all_sections()
    {
        var put = new FigureSection("put", "Puts");
        put.Sum("put_64_of_etcd", 3.14159, "0.00");
        var get = new FigureSection("get", "Gets");
        get.Sum("get_64", 12345.6);
        get.Problem("nothing was read");

        var report = new FigureReport(s_run, "store", "--rounds 5 --seconds 2", 5, [put, get]);

        Assert.Equal("store put_64_of_etcd=3.14 get_64=12346 problems=1", report.Summary);
        Assert.Contains("`Corfu.Load store --rounds 5 --seconds 2`: medians of 5 rounds.", report.ToMarkdown());
        Assert.Contains("**Not valid**: nothing was read.", report.ToMarkdown());
    }

    [Fact]
    public async Task Counting_machine_restores_a_snapshot()
    {
        var machine = new CountingMachine();
        for (var i = 0; i < 3; i++) machine.Apply(default, default);
        using var captured = machine.Capture();
        machine.Apply(default, default);
        using var saved = new MemoryStream();
        await captured.SaveAsync(saved, TestContext.Current.CancellationToken);
        saved.Position = 0;

        var restored = new CountingMachine();
        await restored.RestoreAsync(saved, TestContext.Current.CancellationToken);

        Assert.Equal((3, 4), (restored.Count, machine.Count));
    }

    private static Command CommandOf(string name) => name switch
    {
        "ledgers" => LedgersCommand.Create(),
        "store" => StoreCommand.Create(),
        "etcd" => EtcdCommand.Create(),
        _ => MachinesCommand.Create(),
    };

    private static PointReport Point(string system, int[] operations, long failures = 0) => new(
        system, 64, Load, Baseline.Echo,
        [.. operations.Select(count => new RoundResult(count, 1, 1, 2, 3, failures))],
        [.. operations.Select(_ => new RoundResult(1000, 1, 1, 1, 1, 0))], [], [new PercentilePoint(99, 2)])
    {
        Costs = [.. operations.Select(count => new PointCost(count * 50e-6, count * 25e-6))],
    };
}
