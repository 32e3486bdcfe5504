using BenchmarkDotNet.Attributes;

namespace Corfu.Benchmarks;

/// <summary>Durable appends to the log, each acknowledged by both replicas of its chain.</summary>
[OnCluster]
public class AppendBenchmarks : ClusterBenchmarks
{
    [Params(1, 64, 512)]
    public override int InFlight { get; set; }

    [Benchmark(OperationsPerInvoke = Operations)]
    public Task Append128Bytes() => RunAsync(async _ => (await Client.AppendAsync(Payload, [])).Require());
}
