using System.Globalization;
using Corfu.Extensions;
using Corfu.Hosting;
using Microsoft.AspNetCore.Builder;
using OpenTelemetry;
using OpenTelemetry.Exporter;
using OpenTelemetry.Metrics;
using OpenTelemetry.Resources;
using OpenTelemetry.Trace;

namespace Corfu.Operations.Figures;

/// <summary>Collects the figures and traces of this process: for scrapes, and for a collector that they are sent
/// to.</summary>
internal sealed class Collector : IDisposable
{
    /// <summary>Memory, processor time and threads, as the runtime measures them.</summary>
    private const string RuntimeMeter = "System.Runtime";

    private readonly MeterProvider _meters;
    private readonly TracerProvider? _traces;
    private readonly BackupFigures? _backups;
    private readonly bool _isScraped;

    public Collector(NodeSurroundings node)
    {
        var options = node.Options;
        var otlp = options.Telemetry?.Otlp;
        var resource = ResourceBuilder.CreateEmpty()
            .AddService("corfu", serviceVersion: CorfuNode.Build, serviceInstanceId: options.Name)
            .AddAttributes([KeyValuePair.Create<string, object>(
                "corfu.cluster.id", options.Cluster.ToString("D", CultureInfo.InvariantCulture))]);
        if (options.Http?.Backups is { } folder) _backups = new BackupFigures(folder, node.Time);
        _isScraped = options.Http is not null;
        var meters = Sdk.CreateMeterProviderBuilder().SetResourceBuilder(resource)
            .AddMeter([.. Meters]);
        if (_isScraped) meters.AddPrometheusExporter();
        if (otlp is not null) meters.AddOtlpExporter(exporter => Send(exporter, otlp));
        _meters = meters.Build();
        if (otlp is null) return;
        _traces = Sdk.CreateTracerProviderBuilder().SetResourceBuilder(resource).AddSource([.. Sources])
            .SetSampler(new ParentBasedSampler(new TraceIdRatioBasedSampler(options.Telemetry!.Sample)))
            .AddOtlpExporter(exporter => Send(exporter, otlp)).Build();
    }

    /// <summary>Every meter of a node process.</summary>
    public static IEnumerable<string> Meters { get; } =
    [
        .. HostingTelemetry.Meters.Concat(CorfuTelemetryNames.Meters).Distinct(), BackupFigures.MeterName, "Corfu.Grpc",
        "Corfu.Etcd", "Corfu.Store", "Corfu.ZooKeeper", "Craq", "Salus.Hosting", "Salus.Nbd", "Salus.Region",
        RuntimeMeter,
    ];

    public static IEnumerable<string> Sources { get; } =
        [.. HostingTelemetry.ActivitySources.Concat(CorfuTelemetryNames.ActivitySources).Distinct()];

    public void Map(IApplicationBuilder app) =>
        app.UseOpenTelemetryPrometheusScrapingEndpoint(
            _meters, static context => context.Request.Path == "/metrics", null, null, null);

    public void Dispose()
    {
        _traces?.Dispose();
        _meters.Dispose();
        _backups?.Dispose();
    }

    // 4317 is the port of the protocol over gRPC, every other one that of HTTP.
    private static void Send(OtlpExporterOptions exporter, Uri otlp)
    {
        exporter.Endpoint = otlp;
        exporter.Protocol = otlp.Port == 4318 || otlp.AbsolutePath.Length > 1
            ? OtlpExportProtocol.HttpProtobuf
            : OtlpExportProtocol.Grpc;
    }
}
