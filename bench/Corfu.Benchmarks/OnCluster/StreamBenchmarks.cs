using System.Collections.Immutable;
using BenchmarkDotNet.Attributes;

namespace Corfu.Benchmarks;

/// <summary>Durable appends that belong to several streams at once (Tango's multiappend).</summary>
[OnCluster]
public class StreamBenchmarks : ClusterBenchmarks
{
    private ImmutableArray<StreamId> _streams = [];

    [Params(64)]
    public override int InFlight { get; set; }

    /// <summary>Streams of one entry.</summary>
    [Params(1, 4, 16)]
    public int Streams { get; set; }

    [Benchmark(OperationsPerInvoke = Operations)]
    public Task AppendToStreams() => RunAsync(async _ => (await Client.AppendAsync(Payload, _streams)).Require());

    protected override Task PrepareAsync()
    {
        _streams = [.. Enumerable.Range(0, Streams).Select(static i => StreamId.FromName($"benchmark/{i}"))];
        return Task.CompletedTask;
    }
}
