using System.Collections.Immutable;
using BenchmarkDotNet.Attributes;
using Tango;
using Tango.Collections;
using Tango.Testing;

namespace Corfu.Benchmarks;

/// <summary>Reads of a dictionary of 10,000 keys over a log in memory: what the runtime adds to the check of the
/// log.</summary>
[HotPath]
public class DictionaryReadBenchmarks
{
    private const int Keys = 10_000;

    private TangoRuntime _runtime = null!;
    private TangoDictionary<long, string> _dictionary = null!;
    private ImmutableDictionary<long, string> _snapshot = null!;
    private long _next;

    [GlobalSetup]
    public async Task FillAsync()
    {
        _runtime = new TangoRuntime(new InMemoryCorfuLog());
        _dictionary = await _runtime.OpenAsync<TangoDictionary<long, string>>("dictionary", OpenMode.Create);
        await Window.RunAsync(256, Keys,
            async _ => await _dictionary.SetAsync(Interlocked.Increment(ref _next) - 1, "a value"));
        _snapshot = await _dictionary.SnapshotAsync();
    }

    [GlobalCleanup]
    public ValueTask EndAsync() => _runtime.DisposeAsync();

    [Benchmark(Baseline = true)]
    public bool GetKeyOfSnapshot() => _snapshot.TryGetValue(_next++ % Keys, out _);

    /// <summary>A check, nothing to play, and the key.</summary>
    [Benchmark]
    public ValueTask<Lookup<string>> GetKey() => _dictionary.TryGetAsync(_next++ % Keys);

    /// <summary>Opens a transaction, reads three keys and validates: nothing is written.</summary>
    [Benchmark]
    public async Task<TxOutcome> CommitThreeReads()
    {
        await using var transaction = _runtime.BeginTx();
        for (var i = 0; i < 3; i++) await _dictionary.TryGetAsync(_next++ % Keys);
        return await transaction.EndTxAsync();
    }
}
