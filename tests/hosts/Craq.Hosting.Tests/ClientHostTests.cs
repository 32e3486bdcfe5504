using Corfu.Extensions;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Options;

namespace Craq.Hosting.Tests;

/// <summary>A service with a CRAQ client in its host.</summary>
public sealed class ClientHostTests
{
    [Fact]
    public async Task Service_uses_the_hosts_client_and_is_unhealthy_without_nodes()
    {
        await using var cluster = await EmbeddedCluster.StartAsync(
            new EmbeddedClusterOptions { Units = 1, Replicas = 1 });
        await using var craq = await EmbeddedCraq.StartAsync(cluster.ConnectionString);
        var builder = Host.CreateEmptyApplicationBuilder(null);
        builder.Configuration.AddInMemoryCollection(
            new Dictionary<string, string?> { ["Craq:ConnectionString"] = craq.ConnectionString });
        builder.Services.AddCraqClient(builder.Configuration.GetSection("Craq"));
        builder.Services.AddKeyedCraqClient("other", craq.ConnectionString);
        using var host = builder.Build();
        await host.StartAsync();
        var client = await host.Services.GetRequiredService<ICraqConnection>().GetClientAsync();
        Assert.Same(client, await host.Services.GetRequiredService<ICraqConnection>().GetClientAsync());
        Assert.NotSame(client,
            await host.Services.GetRequiredKeyedService<ICraqConnection>("other").GetClientAsync());
        await client.PingAsync();

        var checks = host.Services.GetRequiredService<HealthCheckService>();
        var health = await checks.CheckHealthAsync();
        Assert.Equal(HealthStatus.Healthy, health.Status);
        Assert.Equal(["craq-client", "craq-client-other"], health.Entries.Keys.Order());
        await craq.DisposeAsync();
        Assert.Equal(HealthStatus.Unhealthy, (await checks.CheckHealthAsync()).Status);
        await Assert.ThrowsAsync<CraqUnavailableException>(() => client.PingAsync().AsTask());
        await host.StopAsync();
    }

    [Fact]
    public async Task Faults_of_the_settings_come_in_one_message_before_the_start()
    {
        var builder = Host.CreateEmptyApplicationBuilder(null);
        builder.Services.AddKeyedCraqClient("east", settings =>
        {
            settings.ConnectionString = "corfu://127.0.0.1:1";
            settings.ConnectTimeout = TimeSpan.FromSeconds(-1);
            settings.Client = new CraqClientOptions { MaxValue = 0 };
        });
        using var host = builder.Build();
        var fault = await Assert.ThrowsAsync<OptionsValidationException>(() => host.StartAsync());
        Assert.Contains("Client 'east': ConnectionString: ", fault.Message, StringComparison.Ordinal);
        Assert.Contains("ConnectTimeout", fault.Message, StringComparison.Ordinal);
        Assert.Contains("MaxValue", fault.Message, StringComparison.Ordinal);
    }
}
