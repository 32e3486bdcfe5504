using Corfu.Hosting;
using Corfu.Orleans.Tests.Support;
using Corfu.OrleansSilo;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Orleans;
using Orleans.Configuration;
using Orleans.Hosting;
using Orleans.Runtime;

namespace Corfu.Orleans.Tests.Clusters;

/// <summary>Silos in processes of their own, whose membership is in the log, and a client that finds their gateways
/// there.</summary>
public sealed class SiloProcessTests
{
    private const string Cluster = "processes";

    [Fact]
    public async Task Killed_silo_is_declared_dead_and_grains_go_on_elsewhere_until_the_return()
    {
        await using var log = await EmbeddedCluster.StartAsync();
        await using var silos = new SiloProcesses(log.ConnectionString, Cluster);
        var started = await Task.WhenAll(Enumerable.Range(0, 3).Select(
            _ => silos.StartAsync(TestPorts.Take(), TestPorts.Take())));
        using var host = NewClient(log.ConnectionString);
        await host.StartAsync();
        var client = host.Services.GetRequiredService<IClusterClient>();
        await HasAsync(client, SiloStatus.Active, 3);
        var load = new LedgerLoad(client);
        var clock = client.GetGrain<ITickGrain>("clock");
        await clock.StartAsync(TimeSpan.FromMilliseconds(200));
        await ReachesAsync(clock, 2);
        await load.GoesOnAsync("on three silos");

        var where = SiloAddress.FromParsableString(await clock.WhereAsync());
        var victim = Assert.Single(started, silo => silo.SiloPort == where.Endpoint.Port);
        await victim.KillAsync();
        await HasAsync(client, SiloStatus.Dead, 1);
        await load.GoesOnAsync("on two silos");
        await ReachesAsync(clock, await Eventually.SucceedsAsync(clock.CountAsync, "the count is read") + 2);
        Assert.NotEqual(where.ToParsableString(), await clock.WhereAsync());

        await silos.StartAsync(victim.SiloPort, victim.GatewayPort);
        await HasAsync(client, SiloStatus.Active, 3);
        await load.GoesOnAsync("on three silos again");
        await load.EndAsync();
        await host.StopAsync();
    }

    private static IHost NewClient(string connectionString)
    {
        var builder = Host.CreateApplicationBuilder();
        builder.Logging.ClearProviders();
        builder.UseOrleansClient(client => client
            .Configure<ClusterOptions>(static options => (options.ClusterId, options.ServiceId) = (Cluster, "tests"))
            .Configure<GatewayOptions>(static options => options.GatewayListRefreshPeriod = TimeSpan.FromSeconds(1))
            .Configure<ClientMessagingOptions>(
                static options => options.ResponseTimeout = TimeSpan.FromSeconds(10))
            .UseCorfuClustering(connectionString));
        return builder.Build();
    }

    private static Task HasAsync(IClusterClient client, SiloStatus status, int count) => Eventually.IsTrueAsync(
        async () =>
        {
            var hosts = await Eventually.SucceedsAsync(
                () => client.GetGrain<IManagementGrain>(0).GetHosts(), "the membership is read");
            return hosts.Values.Count(one => one == status) == count;
        }, $"{count} silos are {status}");

    private static Task ReachesAsync(ITickGrain grain, int count) => Eventually.IsTrueAsync(
        async () => await Eventually.SucceedsAsync(grain.CountAsync, "the count is read") >= count,
        $"the reminder has come {count} times");
}
