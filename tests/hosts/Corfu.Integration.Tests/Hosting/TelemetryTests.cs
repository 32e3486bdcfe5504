using System.Collections.Concurrent;
using System.Diagnostics.Metrics;
using Corfu.Extensions;
using Corfu.Hosting;

namespace Corfu.Integration.Tests.Hosting;

public sealed class TelemetryTests
{
    [Fact]
    public async Task A_collector_with_the_published_names_hears_every_instrument_of_the_product()
    {
        // A front end, which another test may have started in this process, has a meter with its package's name.
        var names = HostingTelemetry.Meters.Concat(CorfuTelemetryNames.Meters).Append("Corfu.ZooKeeper").ToHashSet();
        var published = new ConcurrentDictionary<string, string>();
        var measured = new ConcurrentDictionary<string, bool>();
        using var listener = new MeterListener();
        listener.InstrumentPublished = (instrument, meters) =>
        {
            published[instrument.Name] = instrument.Meter.Name;
            if (names.Contains(instrument.Meter.Name)) meters.EnableMeasurementEvents(instrument);
        };
        listener.SetMeasurementEventCallback<double>((instrument, _, _, _) => measured[instrument.Name] = true);
        listener.SetMeasurementEventCallback<int>((instrument, _, _, _) => measured[instrument.Name] = true);
        listener.Start();

        await using var cluster =
            await EmbeddedCluster.StartAsync(new EmbeddedClusterOptions { Units = 1, Replicas = 1 });
        await using var client = await cluster.ConnectAsync();
        (await client.AppendAsync("x"u8.ToArray(), [])).Require();

        foreach (var name in new[] { "corfu.client.append.duration", "corfu.server.connection",
            "corfu.hosting.node" })
            Assert.True(measured.ContainsKey(name), $"{name} was never measured.");
        var own =
            published.Where(
                p => p.Key.StartsWith("corfu.", StringComparison.Ordinal)
                    || p.Key.StartsWith("tango.", StringComparison.Ordinal));
        Assert.All(own, instrument => Assert.Contains(instrument.Value, names));
    }
}
