using Corfu.Client;
using Craq;
using Salus;
using Tango;

namespace Corfu.Extensions;

/// <summary>Meters and sources that a client process hands to its collector: <c>AddMeter([..
/// CorfuTelemetryNames.Meters])</c> and the like.</summary>
public static class CorfuTelemetryNames
{
    public static IReadOnlyList<string> Meters { get; } =
        [
            TransportTelemetry.MeterName, ClientTelemetry.MeterName, StreamTelemetry.MeterName,
            TangoTelemetry.MeterName, CraqClientTelemetry.MeterName,
            SalusClientTelemetry.MeterName,
            // A package of its own, which this one does not need.
            "Corfu.Store",
        ];

    public static IReadOnlyList<string> ActivitySources { get; } =
        [TransportTelemetry.ActivitySourceName, ClientTelemetry.ActivitySourceName, TangoTelemetry.ActivitySourceName];
}
