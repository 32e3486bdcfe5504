using BenchmarkDotNet.Attributes;

namespace Corfu.Benchmarks;

/// <summary>Durable updates of random keys of a dictionary. Updates that wait at the same time share
/// entries.</summary>
[OnCluster]
public class ObjectUpdateBenchmarks : ObjectBenchmarks
{
    [Params(1, 64, 512)]
    public override int InFlight { get; set; }

    [Benchmark(OperationsPerInvoke = Operations)]
    public Task SetKey() => RunAsync(async _ => await Dictionary.SetAsync(Random.Shared.Next(Keys), Value));
}
