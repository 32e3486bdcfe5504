using System.Collections.Concurrent;
using System.Diagnostics.Metrics;
using Salus.Protocol;
using Salus.Region;

namespace Salus.Hosting.Tests;

/// <summary>Figures of a volume in use, as a collector gets them.</summary>
[Collection(Name)]
[CollectionDefinition(Name, DisableParallelization = true)]
public sealed class TelemetryTests
{
    /// <summary>Instruments count for the process: volumes of other tests would be among them.</summary>
    public const string Name = "figures of volumes";

    private static readonly string[] s_meters =
        [SalusClientTelemetry.MeterName, SalusNodeTelemetry.MeterName, RegionTelemetry.MeterName];

    // Only a failure reaches it.
    private static readonly TimeSpan s_limit = TimeSpan.FromSeconds(60);
    private static readonly TimeSpan s_pause = TimeSpan.FromMilliseconds(20);

    [Fact]
    public async Task Figures_tell_of_writes_votes_commits_reads_and_the_health_of_volumes()
    {
        var sums = new ConcurrentDictionary<string, double>();
        using var listener = Listen(sums);
        await using var cluster = await EmbeddedCluster.StartAsync(
            new EmbeddedClusterOptions { Units = 1, Replicas = 1 });
        await using var salus = await EmbeddedSalus.StartAsync(cluster.ConnectionString);
        await using var connection = await SalusConnection.OpenAsync(salus.Log);
        await connection.Log.Admin.CreateAsync("figures", VolumeGeometry.Create(64 << 20));
        await using (var volume = await (await connection.FindVolumeAsync("figures")).MountAsync(default))
        {
            await volume.WriteAsync(0, new byte[1 << 20].AsMemory(), durable: true);
            await volume.ReadAsync(0, new byte[1 << 20], null, default);
            Assert.True(sums["salus.client.volume "] >= 1);
            // A node tells what it has played: it may follow the log later than the client.
            using var limit = new CancellationTokenSource(s_limit);
            while (sums.GetValueOrDefault("salus.volume.health figures Ready") != 1)
            {
                await Task.Delay(s_pause, limit.Token);
                listener.RecordObservableInstruments();
            }

            Assert.Equal(0, sums["salus.volume.health figures Waiting"]);
        }

        string[] counted =
        [
            "salus.client.write ", "salus.client.batch.size ", "salus.client.commit.duration ",
            "salus.client.read.duration ", "salus.client.mount.duration ", "salus.region.batch ",
            "salus.region.batch.size ", "salus.region.vote ", "salus.region.decision ", "salus.region.batch.committed ",
            "salus.region.recovery.duration ", "salus.node.registered ",
        ];
        Assert.All(counted, name => Assert.True(sums.GetValueOrDefault(name) > 0, name));
        Assert.True(sums["salus.client.io written"] >= 1 << 20);
        // Each of three members has applied the blocks.
        Assert.True(sums["salus.region.io written"] >= 3 << 20);
    }

    // Counters and histograms add up; of a gauge the newest figure stays.
    private static MeterListener Listen(ConcurrentDictionary<string, double> sums)
    {
        var listener = new MeterListener
        {
            InstrumentPublished = (instrument, listener) =>
            {
                if (s_meters.Contains(instrument.Meter.Name)) listener.EnableMeasurementEvents(instrument);
            },
        };
        void Take(Instrument instrument, double value, ReadOnlySpan<KeyValuePair<string, object?>> tags)
        {
            var name = $"{instrument.Name} {string.Join(' ', Values(tags))}";
            if (instrument.IsObservable) sums[name] = value;
            else sums.AddOrUpdate(name, value, (_, before) => before + value);
        }

        listener.SetMeasurementEventCallback<long>((instrument, value, tags, _) => Take(instrument, value, tags));
        listener.SetMeasurementEventCallback<double>((instrument, value, tags, _) => Take(instrument, value, tags));
        listener.Start();
        return listener;
    }

    private static IEnumerable<object?> Values(ReadOnlySpan<KeyValuePair<string, object?>> tags) =>
        tags.ToArray().OrderByDescending(static tag => tag.Key).Select(static tag => tag.Value);
}
