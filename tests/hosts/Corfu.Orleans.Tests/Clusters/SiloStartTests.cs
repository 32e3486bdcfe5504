using System.Net;
using Corfu.Orleans.Tests.Support;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Orleans.Configuration;
using Orleans.Hosting;

namespace Corfu.Orleans.Tests.Clusters;

/// <summary>Silos that cannot start say why.</summary>
public sealed class SiloStartTests
{
    [Fact]
    public async Task Silo_without_a_log_does_not_start_and_reports_the_reason()
    {
        var failure = await FailureAsync(silo => silo
            .UseCorfuClustering($"corfu://127.0.0.1:{TestPorts.Take()}")
            .UseCorfu(static options => options.ConnectTimeout = TimeSpan.Zero));

        Assert.Contains("does not reach its log", failure, StringComparison.Ordinal);
    }

    [Fact]
    public async Task All_faults_of_the_options_are_named_before_the_silo_starts()
    {
        var failure = await FailureAsync(silo => silo
            .UseCorfuClustering("http://nowhere")
            .UseCorfu(static options =>
            {
                options.ObjectPrefix = "";
                options.ConnectTimeout = TimeSpan.FromDays(-1);
            })
            .Configure<ClusterOptions>(static options => options.ServiceId = new string('s', 1000)));

        Assert.All(
            (string[])["ConnectionString", "ObjectPrefix", "ConnectTimeout", "ServiceId"],
            name => Assert.Contains(name, failure, StringComparison.Ordinal));
    }

    [Fact]
    public async Task All_faults_of_a_grain_storage_are_named_before_the_silo_starts()
    {
        var failure = await FailureAsync(static silo => silo
            .UseCorfuClustering("corfu://127.0.0.1:1")
            .AddCorfuGrainStorage("archive", static options =>
            {
                options.MaxStateBytes = 0;
                options.MaxLogSpan = 0;
                options.CompactionPeriod = TimeSpan.Zero;
            }));

        Assert.All(
            (string[])["'archive': MaxStateBytes", "'archive': MaxLogSpan", "'archive': CompactionPeriod"],
            name => Assert.Contains(name, failure, StringComparison.Ordinal));
    }

    [Fact]
    public async Task A_silo_that_was_given_no_log_says_how_to_name_one()
    {
        Assert.Contains("AddTango", await FailureAsync(static silo => silo.UseCorfuClustering()),
            StringComparison.Ordinal);
    }

    [Fact]
    public void Two_logs_for_one_silo_are_refused_at_once()
    {
        var builder = Host.CreateApplicationBuilder();

        Assert.Throws<InvalidOperationException>(() => builder.UseOrleans(static silo => silo
            .UseCorfu("corfu://127.0.0.1:1")
            .UseCorfuClustering("corfu://127.0.0.1:1")
            .UseCorfuClustering("corfu://127.0.0.1:2")));
    }

    private static async Task<string> FailureAsync(Action<ISiloBuilder> configure)
    {
        var builder = Host.CreateApplicationBuilder();
        builder.Logging.ClearProviders();
        builder.UseOrleans(silo => configure(silo
            .Configure<ClusterOptions>(static options => (options.ClusterId, options.ServiceId) = ("start", "tests"))
            .ConfigureEndpoints(IPAddress.Loopback, TestPorts.Take(), TestPorts.Take())));
        using var host = builder.Build();

        var failure = await Assert.ThrowsAnyAsync<Exception>(() => host.StartAsync());

        return failure.ToString();
    }
}
