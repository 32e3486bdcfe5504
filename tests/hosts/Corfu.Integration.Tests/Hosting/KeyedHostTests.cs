using System.Diagnostics.Metrics;
using Corfu.Extensions;
using Corfu.Hosting;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Options;
using Tango;

namespace Corfu.Integration.Tests.Hosting;

/// <summary>Several clients and runtimes in a host, settings from its configuration, and figures of its
/// objects.</summary>
public sealed class KeyedHostTests
{
    [Fact]
    public async Task Runtimes_with_keys_live_side_by_side()
    {
        await using var cluster = await EmbeddedCluster.StartAsync();
        var builder = Host.CreateEmptyApplicationBuilder(null);
        builder.Services.AddKeyedCorfuClient("main", cluster.ConnectionString);
        builder.Services.AddKeyedTango("a", static settings => settings.ClientKey = "main")
            .AddContext<VisitsContext>("first");
        builder.Services.AddKeyedTango("b", static settings => settings.ClientKey = "main")
            .AddContext<VisitsContext>("second");
        using var host = builder.Build();
        await host.StartAsync();

        var (a, b) = (host.Services.GetRequiredKeyedService<VisitsContext>("a"),
            host.Services.GetRequiredKeyedService<VisitsContext>("b"));
        await a.All.IncrementAsync(2);
        await b.All.IncrementAsync(5);
        Assert.NotSame(a.Runtime, b.Runtime);
        Assert.Equal((2, 5), (await a.All.ReadAsync(), await b.All.ReadAsync()));
        Assert.Null(host.Services.GetService<VisitsContext>());

        var health = await host.Services.GetRequiredService<HealthCheckService>().CheckHealthAsync();
        Assert.Equal(HealthStatus.Healthy, health.Status);
        Assert.Equal(["corfu-client-main", "tango-a", "tango-b"], health.Entries.Keys.Order());
        var figures = ReadFigures(host.Services.GetRequiredService<IMeterFactory>(), "tango.object.update");
        Assert.Equal((1, 1), (figures["a first/All"], figures["b second/All"]));
        Assert.Equal(0, figures["b second/ByPage"]);
        await host.StopAsync();
    }

    /// <summary>The container gives the last registration alone, so that the first would never be opened.</summary>
    [Fact]
    public void A_second_context_of_a_type_on_one_runtime_is_refused()
    {
        var services = new ServiceCollection();
        services.AddCorfuClient("corfu://127.0.0.1:1");
        var tango = services.AddTango().AddContext<VisitsContext>("eu");
        var refused = Assert.Throws<InvalidOperationException>(() => tango.AddContext<VisitsContext>("us"));
        Assert.Contains("'us'", refused.Message, StringComparison.Ordinal);
        services.AddKeyedTango("us").AddContext<VisitsContext>("us");
    }

    [Fact]
    public void Settings_come_from_the_configuration_and_unknown_names_are_errors()
    {
        var configuration = new ConfigurationBuilder().AddInMemoryCollection(new Dictionary<string, string?>
        {
            ["Corfu:ConnectionString"] = "corfu://127.0.0.1:1",
            ["Corfu:ConnectTimeout"] = "00:00:05",
            ["Tango:Runtime:MaxBatchRecords"] = "7",
            ["Tango:Runtime:Checkpoints:Updates"] = "11",
            ["Wrong:Runtime:MaxBatchRecord"] = "7",
        }).Build();
        var services = new ServiceCollection().AddLogging().AddCorfuClient(configuration.GetSection("Corfu"))
            .AddTango(configuration.GetSection("Tango")).Services.BuildServiceProvider();
        var client = services.GetRequiredService<IOptions<CorfuClientSettings>>().Value;
        Assert.Equal(
            ("corfu://127.0.0.1:1", TimeSpan.FromSeconds(5)), (client.ConnectionString, client.ConnectTimeout));
        var tango = services.GetRequiredService<IOptions<TangoSettings>>().Value.Runtime;
        Assert.Equal((7, 11), (tango.MaxBatchRecords, tango.Checkpoints!.Updates));
        Assert.Equal(new TangoOptions().RemoteStay, tango.RemoteStay);

        var wrong = new ServiceCollection().AddLogging().AddTango(configuration.GetSection("Wrong"))
            .Services.BuildServiceProvider();
        var fault = Assert.ThrowsAny<Exception>(wrong.GetRequiredService<IStartupValidator>().Validate);
        Assert.Contains("MaxBatchRecord", fault.ToString(), StringComparison.Ordinal);
    }

    [Fact]
    public void Fault_names_the_key_of_the_client_and_the_runtime()
    {
        var services = new ServiceCollection().AddLogging();
        services.AddKeyedCorfuClient("east", "http://somewhere");
        services.AddKeyedTango("jobs", static settings => settings.Runtime = new TangoOptions { MaxBatchRecords = 0 });
        var fault = Assert.Throws<AggregateException>(
            services.BuildServiceProvider().GetRequiredService<IStartupValidator>().Validate);
        var messages = string.Join('\n', fault.InnerExceptions.Select(inner => inner.Message));
        Assert.Contains("Client 'east': ConnectionString:", messages, StringComparison.Ordinal);
        Assert.Contains("Runtime 'jobs': MaxBatchRecords", messages, StringComparison.Ordinal);
    }

    /// <returns>By key of the runtime and name of the object.</returns>
    private static Dictionary<string, long> ReadFigures(IMeterFactory factory, string instrument)
    {
        var figures = new Dictionary<string, long>();
        using var listener = new MeterListener();
        listener.InstrumentPublished = (published, to) =>
        {
            if (published.Name == instrument && published.Meter.Scope == factory) to.EnableMeasurementEvents(published);
        };
        listener.SetMeasurementEventCallback<long>((read, value, tags, _) =>
        {
            var runtime = read.Meter.Tags!.Single(static tag => tag.Key == "tango.runtime").Value;
            foreach (var (key, tag) in tags)
            {
                if (key == "tango.object") figures[$"{runtime} {tag}"] = value;
            }
        });
        listener.Start();
        listener.RecordObservableInstruments();
        return figures;
    }
}
