using System.Diagnostics.Metrics;

namespace Corfu.Unit;

/// <summary>State of the units of this process, read when a collector asks.</summary>
internal static class UnitGauges
{
    public static readonly Observed<UnitHandler> Units = new();

    static UnitGauges()
    {
        Gauge("page.stored", "{page}", "Pages held.", static unit => unit.Figures.Pages);
        Gauge("stored", "By", "Bytes of the log on disk.", static unit => unit.Figures.Bytes);
        Gauge("page.damaged", "{page}", "Pages known to be damaged and not yet repaired.",
            static unit => unit.Figures.CorruptPages);
        Gauge("stream", "{stream}", "Streams whose tails are kept.", static unit => unit.Figures.Streams);
        Gauge("stream.limit", "{stream}", "Streams whose tails may be kept.", static unit => unit.Figures.MaxStreams);
        Gauge("end", "{position}", "Position after the highest one ever written.", static unit => unit.Figures.End);
        Gauge("trim_mark", "{position}", "Everything below is trimmed.", static unit => unit.Figures.TrimMark);
        Gauge("epoch", "{epoch}", "Epoch that is served.", static unit => unit.Figures.Epoch);
        Gauge("waiting", "{answer}", "Answers that wait for a sync.", static unit => unit.Figures.Waiting);
        Gauge("read.pending", "By", "Pages that reads wait for.", static unit => unit.Figures.PendingReadBytes);
        Gauge("disk.free", "By", "Room of the file system.", static unit => unit.Disk?.Free);
        Gauge("disk.limit", "By", "Size of the file system.", static unit => unit.Disk?.Total);
        Units.Gauges(UnitTelemetry.Meter, "corfu.unit.health", "{unit}", "1 for the health that the unit has.",
            static unit => Enum.GetValues<UnitHealth>().Select(health => new Measurement<long>(
                unit.Figures.Health == health ? 1 : 0, UnitOf(unit), "corfu.health".With(health.ToString()))));
    }

    private static void Gauge(string name, string unit, string description, Func<UnitHandler, long?> figure) =>
        Units.Gauge(UnitTelemetry.Meter, $"corfu.unit.{name}", unit, description, figure, UnitOf);

    private static KeyValuePair<string, object?> UnitOf(UnitHandler unit) => "corfu.unit".With(unit.Id.ToString());
}
