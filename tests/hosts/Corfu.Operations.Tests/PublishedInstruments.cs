using System.Diagnostics.Metrics;
using System.Reflection;
using System.Runtime.CompilerServices;
using Corfu.Etcd;
using Corfu.Extensions;
using Corfu.Hosting;
using Corfu.Operations.Figures;
using Corfu.Store;
using Corfu.ZooKeeper;
using Craq.Hosting;
using Salus.Hosting;
using Tango;

namespace Corfu.Operations.Tests;

/// <summary>Every instrument of the product, as its code makes it.</summary>
internal static class PublishedInstruments
{
    // Held, so that the meters that it makes stay.
    private static readonly List<object> s_held = [];

    /// <summary>By name.</summary>
    public static IReadOnlyList<Instrument> All { get; } = Collect();

    /// <summary>The names under which Prometheus knows them.</summary>
    public static HashSet<string> Series { get; } = [.. All.SelectMany(SeriesOf)];

    public static string NameInPrometheus(Instrument instrument)
    {
        var name = instrument.Name.Replace('.', '_');
        var unit = instrument.Unit switch { "s" => "_seconds", "By" => "_bytes", _ => "" };
        if (!name.EndsWith(unit, StringComparison.Ordinal)) name += unit;
        return KindOf(instrument) == "counter" ? name + "_total" : name;
    }

    public static string KindOf(Instrument instrument)
    {
        var type = instrument.GetType().Name;
        return type.Contains("UpDown", StringComparison.Ordinal) || type.Contains("Gauge", StringComparison.Ordinal)
            ? "gauge"
            : type.Contains("Histogram", StringComparison.Ordinal) ? "histogram" : "counter";
    }

    private static IEnumerable<string> SeriesOf(Instrument instrument)
    {
        var name = NameInPrometheus(instrument);
        return KindOf(instrument) == "histogram" ? [name + "_bucket", name + "_sum", name + "_count"] : [name];
    }

    private static IReadOnlyList<Instrument> Collect()
    {
        // Before there is a listener: the first meter that is made may ask for these names.
        var meters = Collector.Meters.ToHashSet();
        var found = new List<Instrument>();
        using var listener = new MeterListener();
        listener.InstrumentPublished = (instrument, _) =>
        {
            if (!meters.Contains(instrument.Meter.Name) || instrument.Meter.Name == "System.Runtime") return;
            lock (found) found.Add(instrument);
        };
        listener.Start();
        foreach (var type in Makers()) RuntimeHelpers.RunClassConstructor(type.TypeHandle);
        s_held.Add(new BackupFigures(Path.GetTempPath(), TimeProvider.System));
        TangoMeters.Add(new Factory(), static () => [], null);
        lock (found)
            return [.. found.DistinctBy(own => own.Name).OrderBy(own => own.Name, StringComparer.Ordinal)];
    }

    private sealed class Factory : IMeterFactory
    {
        public Meter Create(MeterOptions options)
        {
            var meter = new Meter(options);
            s_held.Add(meter);
            return meter;
        }

        public void Dispose()
        {
        }
    }

    private static bool IsOwn(string assembly) => assembly.StartsWith("Corfu", StringComparison.Ordinal)
        || assembly.StartsWith("Craq", StringComparison.Ordinal)
        || assembly.StartsWith("Salus", StringComparison.Ordinal);

    // Classes that make instruments are called so.
    private static IEnumerable<Type> Makers()
    {
        Assembly[] roots = [typeof(HostingTelemetry).Assembly, typeof(CorfuTelemetryNames).Assembly,
            typeof(TangoTelemetry).Assembly, typeof(CraqNodeRole).Assembly, typeof(SalusNodeRole).Assembly,
            typeof(FrontEndTelemetry).Assembly, typeof(StoreTelemetry).Assembly, typeof(EtcdTelemetry).Assembly];
        return from assembly in roots.Concat(roots.SelectMany(root => root.GetReferencedAssemblies())
                   .Where(name => IsOwn(name.Name!)).Select(Assembly.Load))
                   .Distinct()
               from type in assembly.GetTypes()
               where type.Name.EndsWith("Telemetry", StringComparison.Ordinal)
                   || type.Name.EndsWith("Gauges", StringComparison.Ordinal)
               select type;
    }
}
