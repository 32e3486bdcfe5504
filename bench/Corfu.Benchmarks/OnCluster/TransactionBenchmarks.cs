using BenchmarkDotNet.Attributes;
using Corfu.Load;
using Tango;

namespace Corfu.Benchmarks;

/// <summary>Transactions that read three keys of a dictionary and write three others; aborts are retried, so one
/// operation is one commit.</summary>
[OnCluster]
public class TransactionBenchmarks : ObjectBenchmarks
{
    private const int Touched = 3;

    private KeyPicker _picker = null!;

    [Params(1, 64)]
    public override int InFlight { get; set; }

    /// <summary>How the keys are drawn: all alike, or after Zipf's law with exponent 0.99.</summary>
    [Params(KeyChoice.Uniform, KeyChoice.Zipf)]
    public KeyChoice Choice { get; set; }

    [Benchmark(OperationsPerInvoke = Operations)]
    public Task CommitThreeReadsThreeWrites() => RunAsync(async _ =>
    {
        var keys = new int[2 * Touched];
        _picker.Fill(Random.Shared, keys);
        var outcome = await Runtime.RunTransactionAsync(async _ =>
        {
            for (var i = 0; i < Touched; i++) await Dictionary.TryGetAsync(keys[i]);
            for (var i = Touched; i < keys.Length; i++) await Dictionary.SetAsync(keys[i], Value);
        });
        outcome.ThrowIfNotCommitted();
    });

    protected override Task PrepareAsync()
    {
        _picker = new KeyPicker(Keys, Choice == KeyChoice.Zipf);
        return base.PrepareAsync();
    }
}

/// <summary>How keys are drawn.</summary>
public enum KeyChoice
{
    Uniform,
    Zipf,
}
