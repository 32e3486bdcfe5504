using System.Net;
using Corfu.Hosting;
using Corfu.Integration.Tests.Support;

namespace Corfu.Integration.Tests.Tool;

/// <summary><c>corfu console</c> as its users run it; what its pages show is in Corfu.Console.Tests.</summary>
public sealed class ConsoleCommandTests
{
    private static readonly TimeSpan s_limit = TimeSpan.FromSeconds(60);

    [Fact]
    public async Task Console_prints_an_address_that_opens_once_and_ends_with_Ctrl_C()
    {
        Assert.SkipWhen(OperatingSystem.IsWindows(), "needs signals");
        await using var cluster =
            await EmbeddedCluster.StartAsync(new EmbeddedClusterOptions { Units = 1, Replicas = 1 });
        using var console = CorfuTool.Start("console", "--connect", cluster.ConnectionString);
        using var limit = new CancellationTokenSource(s_limit);
        var address = new Uri((await console.StandardOutput.ReadLineAsync(limit.Token))!);
        Assert.Equal("127.0.0.1", address.Host);

        using var browser = new HttpClient { BaseAddress = new Uri(address, "/") };
        Assert.Equal(HttpStatusCode.OK, (await browser.GetAsync(address, limit.Token)).StatusCode);

        // The first page may come before the processes have answered.
        while (!(await browser.GetStringAsync("/", limit.Token)).Contains("OK", StringComparison.Ordinal))
            await Task.Delay(100, limit.Token);
        using var another = new HttpClient();
        Assert.Equal(HttpStatusCode.Forbidden, (await another.GetAsync(address, limit.Token)).StatusCode);

        // An event stream is open, which would last as long as its viewer.
        using var events = await browser.GetAsync(
            "/events/overview", HttpCompletionOption.ResponseHeadersRead, limit.Token);
        ClusterProcesses.Signal(console.Id, "INT");
        await console.WaitForExitAsync(limit.Token);
        Assert.Equal(0, console.ExitCode);
    }

    [Fact]
    public async Task Console_outlives_the_time_limit()
    {
        await using var cluster =
            await EmbeddedCluster.StartAsync(new EmbeddedClusterOptions { Units = 1, Replicas = 1 });
        using var limit = new CancellationTokenSource(s_limit);
        var timeLimit = TimeSpan.FromSeconds(10);
        using var console = CorfuTool.Start("console", "--connect", cluster.ConnectionString, "--timeout", "10");
        try
        {
            var address = new Uri((await console.StandardOutput.ReadLineAsync(limit.Token))!);
            // The limit began before the address was printed.
            await Task.Delay(timeLimit, limit.Token);
            using var browser = new HttpClient();
            Assert.Equal(HttpStatusCode.OK, (await browser.GetAsync(address, limit.Token)).StatusCode);
        }
        finally
        {
            console.Kill();
        }
    }

    [Theory]
    [InlineData("--listen 8080", "'8080' is no address and port, as 127.0.0.1:8080.\nSee 'corfu console --help'.\n", 2)]
    [InlineData("--listen 0.0.0.0:0", "The console listens on this machine only, not at 0.0.0.0.", 1)]
    public async Task Console_refuses_a_wrong_address_with_the_reason(string arguments, string message, int exitCode)
    {
        string[] connect = ["console", "--connect", "corfu://127.0.0.1:1"];
        var result = await CorfuTool.RunAsync([.. connect, .. arguments.Split(' ')]);
        Assert.Equal(exitCode, result.ExitCode);
        Assert.StartsWith(message, result.Error, StringComparison.Ordinal);
        Assert.Equal("", result.Output);
    }
}
