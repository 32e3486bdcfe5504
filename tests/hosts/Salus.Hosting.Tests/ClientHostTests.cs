using Corfu.Extensions;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Options;
using Salus.Hosting.Tests.Docs;

namespace Salus.Hosting.Tests;

/// <summary>A service with volumes in its host.</summary>
public sealed class ClientHostTests
{
    [Fact]
    public async Task Service_mounts_a_volume_by_the_hosts_connection_and_is_unhealthy_without_nodes()
    {
        await using var cluster = await EmbeddedCluster.StartAsync(
            new EmbeddedClusterOptions { Units = 1, Replicas = 1 });
        await using var salus = await EmbeddedSalus.StartAsync(cluster.ConnectionString);
        var builder = Host.CreateEmptyApplicationBuilder(null);
        builder.Configuration.AddInMemoryCollection(new Dictionary<string, string?>
        {
            ["Salus:ConnectionString"] = salus.Log,
            ["Salus:Client:Lease"] = "00:00:02",
        });
        builder.Services.AddSalusClient(builder.Configuration.GetSection("Salus"));
        builder.Services.AddKeyedSalusClient("other", salus.Log);
        using var host = builder.Build();
        await host.StartAsync();
        var shared = host.Services.GetRequiredService<ISalusConnection>();
        var connection = await shared.GetClientAsync();
        Assert.Same(connection, await shared.GetClientAsync());
        Assert.NotSame(connection,
            await host.Services.GetRequiredKeyedService<ISalusConnection>("other").GetClientAsync());
        var block = new byte[4096];
        block.AsSpan().Fill(7);
        var read = new byte[4096];
        await Documented.UseAsync(shared, block, read, default);
        Assert.Equal(block, read);
        var checks = host.Services.GetRequiredService<HealthCheckService>();
        var health = await checks.CheckHealthAsync();
        Assert.Equal(HealthStatus.Healthy, health.Status);
        Assert.Equal(["salus-client", "salus-client-other"], health.Entries.Keys.Order());
        foreach (var name in salus.Nodes.Keys.ToList()) await salus.StopNodeAsync(name);
        Assert.Equal(HealthStatus.Unhealthy, (await checks.CheckHealthAsync()).Status);
        await host.StopAsync();
    }

    [Fact]
    public async Task Faults_of_the_settings_come_in_one_message_before_the_start()
    {
        var builder = Host.CreateEmptyApplicationBuilder(null);
        builder.Services.AddKeyedSalusClient("east", settings =>
        {
            settings.ConnectionString = "http://127.0.0.1:1";
            settings.ConnectTimeout = TimeSpan.FromSeconds(-1);
            settings.Client = new SalusClientOptions { Window = 0 };
        });
        using var host = builder.Build();
        var fault = await Assert.ThrowsAsync<OptionsValidationException>(() => host.StartAsync());
        Assert.Contains("Client 'east': ConnectionString: ", fault.Message, StringComparison.Ordinal);
        Assert.Contains("ConnectTimeout", fault.Message, StringComparison.Ordinal);
        Assert.Contains("Window", fault.Message, StringComparison.Ordinal);
    }
}
