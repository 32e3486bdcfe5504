using Corfu.Extensions;
using Corfu.Hosting;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Options;
using Tango;
using Tango.Collections;

namespace Corfu.Integration.Tests.Hosting;

public sealed class ClientHostTests
{
    [Fact]
    public async Task A_service_uses_tango_objects_over_the_hosts_client()
    {
        await using var cluster = await EmbeddedCluster.StartAsync();
        long value;
        using (var host = await StartHostAsync(cluster.ConnectionString))
        {
            var runtime = await host.Services.GetRequiredService<ITangoHost>().GetRuntimeAsync();
            var counter = await runtime.OpenAsync<TangoCounter>("visits", OpenMode.Create);
            await counter.IncrementAsync(5);
            var health = await host.Services.GetRequiredService<HealthCheckService>().CheckHealthAsync();
            Assert.Equal(HealthStatus.Healthy, health.Status);
            Assert.Equal(["corfu-client", "tango"], health.Entries.Keys.Order());
            await host.StopAsync();
        }

        using (var host = await StartHostAsync(cluster.ConnectionString))
        {
            var runtime = await host.Services.GetRequiredService<ITangoHost>().GetRuntimeAsync();
            value = await (await runtime.OpenAsync<TangoCounter>("visits", OpenMode.Create)).ReadAsync();
            await host.StopAsync();
        }

        Assert.Equal(5, value);
    }

    [Fact]
    public async Task A_context_is_open_and_caught_up_when_the_host_has_started()
    {
        await using var cluster = await EmbeddedCluster.StartAsync();
        for (var start = 1; start <= 2; start++)
        {
            var builder = Host.CreateEmptyApplicationBuilder(null);
            builder.Services.AddCorfuClient(cluster.ConnectionString).AddTango().AddContext<VisitsContext>();
            using var host = builder.Build();
            var early = Assert.Throws<InvalidOperationException>(
                () => host.Services.GetRequiredService<VisitsContext>());
            Assert.Contains(nameof(VisitsContext), early.Message, StringComparison.Ordinal);
            await host.StartAsync();
            var visits = host.Services.GetRequiredService<VisitsContext>();
            Assert.Same(visits, host.Services.GetRequiredService<VisitsContext>());
            // A stale read asks the log for nothing: what is there was there when the host had started.
            await using (var snapshot = visits.BeginTx(new Tango.TransactionOptions { StaleSnapshot = true }))
            {
                Assert.Equal(start - 1, await visits.All.ReadAsync());
                Assert.Equal(start - 1, await visits.ByPage.CountAsync());
            }

            Assert.True((await visits.RunTransactionAsync(async _ =>
            {
                await visits.All.IncrementAsync();
                await visits.ByPage.SetAsync($"page {start}", start);
            })).IsCommitted);
            Assert.Equal("visits/ByPage", visits.ByPage.ObjectName);
            await host.StopAsync();
        }
    }

    [Fact]
    public void All_faults_of_the_client_come_in_one_message()
    {
        var services = new ServiceCollection().AddLogging().AddCorfuClient(settings =>
        {
            settings.ConnectionString = "http://somewhere";
            settings.ConnectTimeout = TimeSpan.FromSeconds(-1);
        }).AddTango(settings => settings.Runtime = new Tango.TangoOptions { MaxBatchRecords = 0 })
        .Services.BuildServiceProvider();
        var validator = services.GetRequiredService<IStartupValidator>();
        var fault = Assert.Throws<AggregateException>(validator.Validate);
        var messages = string.Join('\n', fault.InnerExceptions.Select(inner => inner.Message));
        foreach (var part in new[] { "ConnectionString:", "ConnectTimeout:", "MaxBatchRecords" })
            Assert.Contains(part, messages, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_client_without_a_cluster_is_unhealthy_and_says_why_when_used()
    {
        var builder = Host.CreateEmptyApplicationBuilder(null);
        builder.Services.AddCorfuClient(settings =>
        {
            settings.ConnectionString = "corfu://127.0.0.1:1";
            settings.ConnectTimeout = TimeSpan.Zero;
        });
        using var host = builder.Build();
        await host.StartAsync();
        var health = await host.Services.GetRequiredService<HealthCheckService>().CheckHealthAsync();
        Assert.Equal(HealthStatus.Unhealthy, health.Status);
        var fault =
            await Assert.ThrowsAsync<Client.ClusterNotFoundException>(
                () => host.Services.GetRequiredService<ICorfuConnection>().GetClientAsync());
        Assert.Contains("127.0.0.1:1", fault.Message, StringComparison.Ordinal);
    }

    private static async Task<IHost> StartHostAsync(string connection)
    {
        var builder = Host.CreateEmptyApplicationBuilder(null);
        builder.Services.AddCorfuClient(connection).AddTango();
        var host = builder.Build();
        await host.StartAsync();
        return host;
    }
}

[Tango.TangoContext("visits")]
internal sealed partial class VisitsContext : Tango.TangoContext
{
    public partial TangoCounter All { get; }

    public partial TangoDictionary<string, int> ByPage { get; }
}
