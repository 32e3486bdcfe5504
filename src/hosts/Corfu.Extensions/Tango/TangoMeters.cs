using System.Diagnostics.Metrics;
using Tango;

namespace Corfu.Extensions;

/// <summary>Figures of each object that a host's runtime hosts, read when they are collected.</summary>
internal static class TangoMeters
{
    /// <param name="key">The runtime's key, where a host has several.</param>
    public static void Add(IMeterFactory factory, TangoRuntime runtime, string? key)
    {
        var meter = factory.Create(new MeterOptions(TangoTelemetry.MeterName)
        {
            Tags = key is null ? null : [KeyValuePair.Create<string, object?>("runtime", key)],
        });
        meter.CreateObservableCounter("tango.object.updates", () => Measure(static one => one.Updates),
            "{call}", "Calls applied to an object since this process has it open");
        meter.CreateObservableGauge("tango.object.checkpoint.size", () => Measure(static one => one.CheckpointBytes),
            "By", "Size of the newest checkpoint of the object and its group");
        meter.CreateObservableGauge("tango.object.stopped", () => Measure(static one => one.IsStopped ? 1 : 0),
            "{object}", "1: the object's view has ended in this process");

        IEnumerable<Measurement<long>> Measure(Func<ObjectFigures, long> figure) =>
            runtime.Directory.ReadFigures().Select(one => new Measurement<long>(
                figure(one),
                KeyValuePair.Create<string, object?>("object", one.Name),
                KeyValuePair.Create<string, object?>("type", one.TypeName)));
    }
}
