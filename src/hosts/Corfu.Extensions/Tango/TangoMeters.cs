using System.Collections.Immutable;
using System.Diagnostics.Metrics;
using Tango;

namespace Corfu.Extensions;

/// <summary>Figures of each object that a host's runtime hosts, read when they are collected.</summary>
internal static class TangoMeters
{
    /// <param name="key">The runtime's key, where a host has several.</param>
    /// <param name="read">Reads the figures of the runtime's objects.</param>
    public static void Add(IMeterFactory factory, Func<ImmutableArray<ObjectFigures>> read, string? key)
    {
        var meter = factory.Create(new MeterOptions(TangoTelemetry.MeterName)
        {
            Tags = key is null ? null : [KeyValuePair.Create<string, object?>("tango.runtime", key)],
        });
        var names = new BoundedValues(BoundedValues.Objects);
        var types = new BoundedValues(BoundedValues.Objects);
        meter.CreateObservableCounter("tango.object.update", () => Measure(static one => one.Updates),
            "{call}", "Calls applied to an object since this process has it open.");
        meter.CreateObservableGauge("tango.object.checkpoint.size", () => Measure(static one => one.CheckpointBytes),
            "By", "Size of the newest checkpoint of the object and its group.");
        meter.CreateObservableGauge("tango.object.stopped", () => Measure(static one => one.IsStopped ? 1 : 0),
            "{object}", "1: the object's view has ended in this process.");
        meter.CreateObservableGauge("tango.trim.claim",
            () => Measure(static one => one.TrimClaim?.Offset ?? -1, Enumerable.Min),
            "{position}", "Nothing from here on is trimmed, for the object and its group; -1: not known.");

        // Objects beyond the bound share one name, and their figures are added up.
        IEnumerable<Measurement<long>> Measure(
            Func<ObjectFigures, long> figure, Func<IEnumerable<long>, long>? merge = null) =>
            from one in read()
            group figure(one) by (Name: names.Of(one.Name), Type: types.Of(one.TypeName)) into same
            select new Measurement<long>((merge ?? Enumerable.Sum)(same), "tango.object".With(same.Key.Name),
                "tango.type".With(same.Key.Type));
    }
}
