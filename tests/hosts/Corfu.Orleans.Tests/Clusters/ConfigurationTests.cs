using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Options;
using Orleans;
using Orleans.GrainDirectory;
using Orleans.Hosting;
using Orleans.Messaging;
using Orleans.Storage;

namespace Corfu.Orleans.Tests.Clusters;

/// <summary>Providers that the configuration names, as Aspire writes it.</summary>
public sealed class ConfigurationTests
{
    [Fact]
    public void All_providers_of_a_silo_are_named_by_the_configuration()
    {
        var builder = NewBuilder(new()
        {
            ["ConnectionStrings:log"] = "corfu://127.0.0.1:4100",
            ["Orleans:ClusterId"] = "shop",
            ["Orleans:ServiceId"] = "shop",
            ["Orleans:Clustering:ProviderType"] = "Corfu",
            ["Orleans:Clustering:ConnectionName"] = "log",
            ["Orleans:Reminders:ProviderType"] = "Corfu",
            ["Orleans:GrainDirectory:Default:ProviderType"] = "Corfu",
            ["Orleans:GrainStorage:hot:ProviderType"] = "Corfu",
            ["Orleans:GrainStorage:hot:KeepStatesInLog"] = "false",
            ["Orleans:GrainStorage:hot:MaxStateBytes"] = "1000",
        });
        builder.UseOrleans(static _ => { });
        using var host = builder.Build();

        var services = host.Services;
        IsCorfus(services.GetRequiredService<IMembershipTable>());
        IsCorfus(services.GetRequiredService<IReminderTable>());
        IsCorfus(services.GetRequiredKeyedService<IGrainDirectory>("Default"));
        IsCorfus(services.GetRequiredKeyedService<IGrainStorage>("hot"));
        var options = services.GetRequiredService<IOptionsMonitor<CorfuGrainStorageOptions>>().Get("hot");
        Assert.Equal((false, 1000), (options.KeepStatesInLog, options.MaxStateBytes));
    }

    [Fact]
    public void Client_finds_the_gateways_of_the_configuration()
    {
        var builder = NewBuilder(new()
        {
            ["Orleans:Clustering:ProviderType"] = "Corfu",
            ["Orleans:Clustering:ConnectionString"] = "corfu://127.0.0.1:4100",
        });
        builder.UseOrleansClient(static _ => { });
        using var host = builder.Build();

        IsCorfus(host.Services.GetRequiredService<IGatewayListProvider>());
    }

    [Fact]
    public void A_connection_that_the_configuration_lacks_is_named()
    {
        var builder = NewBuilder(new()
        {
            ["Orleans:Clustering:ProviderType"] = "Corfu",
            ["Orleans:Clustering:ConnectionName"] = "misspelt",
        });

        var e = Assert.Throws<InvalidOperationException>(() => builder.UseOrleans(static _ => { }));
        Assert.Contains("'misspelt'", e.Message, StringComparison.Ordinal);
    }

    private static void IsCorfus(object provider) =>
        Assert.Equal("Corfu.Orleans", provider.GetType().Assembly.GetName().Name);

    private static HostApplicationBuilder NewBuilder(Dictionary<string, string?> settings)
    {
        var builder = Host.CreateApplicationBuilder();
        builder.Configuration.AddInMemoryCollection(settings);
        return builder;
    }
}
