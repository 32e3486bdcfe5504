using System.Diagnostics.Metrics;

namespace Corfu.Store;

/// <summary>Name of the package's meter.</summary>
public static class StoreTelemetry
{
    public const string MeterName = "Corfu.Store";

    internal static readonly Meter Meter = new(MeterName);

    internal static readonly Counter<long> Writes = Meter.CreateCounter<long>(
        "corfu.store.write", "{write}", "Records of this process, by what was decided about them.");

    internal static readonly Counter<long> ValuesRead = Meter.CreateCounter<long>(
        "corfu.store.value.read", "{value}", "Values read, from the cache of this process or from the log.");

    internal static readonly Counter<long> Changes = Meter.CreateCounter<long>(
        "corfu.store.watch.change", "{change}", "Changes told to watches of this process.");

    internal static readonly KeyValuePair<string, object?> FromCache = "corfu.store.source".With("cache");
    internal static readonly KeyValuePair<string, object?> FromLog = "corfu.store.source".With("log");
}
