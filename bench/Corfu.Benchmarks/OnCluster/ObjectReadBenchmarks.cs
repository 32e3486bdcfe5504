using BenchmarkDotNet.Attributes;

namespace Corfu.Benchmarks;

/// <summary>Linearizable reads of random keys of a dictionary that nothing else writes.</summary>
[OnCluster]
public class ObjectReadBenchmarks : ObjectBenchmarks
{
    [Params(1, 64)]
    public override int InFlight { get; set; }

    [Benchmark(OperationsPerInvoke = Operations)]
    public Task GetKey() => RunAsync(async _ =>
    {
        if (!(await Dictionary.TryGetAsync(Random.Shared.Next(Keys))).Found)
            throw new InvalidDataException("A key is missing.");
    });
}
