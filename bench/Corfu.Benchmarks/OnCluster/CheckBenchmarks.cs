using BenchmarkDotNet.Attributes;

namespace Corfu.Benchmarks;

/// <summary>Linearizable checks of the log's tail. Callers that wait at the same time share one.</summary>
[OnCluster]
public class CheckBenchmarks : ClusterBenchmarks
{
    [Params(1, 64)]
    public override int InFlight { get; set; }

    [Benchmark(OperationsPerInvoke = Operations)]
    public Task CheckTail() => RunAsync(async _ => await Client.CheckAsync([]));
}
