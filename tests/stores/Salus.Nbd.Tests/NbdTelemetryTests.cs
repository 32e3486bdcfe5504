using System.Collections.Concurrent;
using System.Diagnostics.Metrics;

namespace Salus.Nbd.Tests;

/// <summary>Instruments are of the process, so that figures of other tests may come among these.</summary>
public sealed class NbdTelemetryTests
{
    [Fact]
    public async Task Commands_are_counted_by_name_and_error()
    {
        var seen = new ConcurrentBag<string>();
        using var listener = new MeterListener
        {
            InstrumentPublished = (instrument, listener) =>
            {
                if (instrument.Meter.Name == NbdTelemetry.MeterName) listener.EnableMeasurementEvents(instrument);
            },
        };
        listener.SetMeasurementEventCallback<double>((instrument, value, tags, _) =>
            seen.Add($"{instrument.Name} {value > 0} {string.Join(' ', tags.ToArray().Select(tag => tag.Value))}"));
        listener.SetMeasurementEventCallback<long>((instrument, value, tags, _) =>
            seen.Add($"{instrument.Name} {value} {string.Join(' ', tags.ToArray().Select(tag => tag.Value))}"));
        listener.SetMeasurementEventCallback<int>((instrument, value, _, _) => seen.Add($"{instrument.Name} {value}"));
        listener.Start();

        await using (var world = NbdWorld.Of(new MemoryVolume(1 << 20)))
        {
            var peer = await world.AttachAsync();
            await peer.WriteAsync(0, new byte[12_345]);
            await peer.ReadDataAsync(0, 23_456);
            await peer.CallAsync(CommandCode.Trim, 0, 0);
            await peer.CallAsync((CommandCode)777, 0, 1);
        }

        string[] expected =
        [
            "salus.nbd.connection 1", "salus.nbd.connection -1", "salus.nbd.io 12345 written",
            "salus.nbd.io 23456 read", "salus.nbd.request.duration True Write None",
            "salus.nbd.request.duration True Read None", "salus.nbd.request.duration True Trim Invalid",
            "salus.nbd.request.duration True other Invalid",
        ];
        Assert.Empty(expected.Except(seen));
    }
}
