using BenchmarkDotNet.Attributes;
using Corfu.Protocol;
using Corfu.Server;
using OpenTelemetry;
using OpenTelemetry.Metrics;

namespace Corfu.Benchmarks;

/// <summary>The figures of one request at a server: its time, by role, opcode and status. Without a collector the cost
/// is a branch.</summary>
[HotPath]
public class RequestFigureBenchmarks
{
    private static readonly TimeProvider Time = TimeProvider.System;

    private readonly long _received = Time.GetTimestamp();
    private MeterProvider? _collector;

    /// <summary>Whether the process has the collector of <c>/metrics</c>.</summary>
    [Params(false, true)]
    public bool Collected { get; set; }

    [GlobalSetup]
    public void Setup()
    {
        if (!Collected) return;
        _collector = Sdk.CreateMeterProviderBuilder().AddMeter(ServerTelemetry.MeterName).AddPrometheusExporter()
            .Build();
    }

    [GlobalCleanup]
    public void Cleanup() => _collector?.Dispose();

    [Benchmark]
    public void RecordRequest()
    {
        if (ServerTelemetry.RequestTime.Enabled)
            RequestTimes.Record(Time.GetElapsedTime(_received), NodeRole.Unit, Opcode.Write, Status.Ok);
    }
}
