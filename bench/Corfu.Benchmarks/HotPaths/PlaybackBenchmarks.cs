using BenchmarkDotNet.Attributes;
using Tango;
using Tango.Collections;
using Tango.Testing;

namespace Corfu.Benchmarks;

/// <summary>
/// A runtime that opens a dictionary and plays its history from a log in memory: fetching, decoding, deciding and
/// applying, per record. The records share entries as those of a window of concurrent callers do.
/// </summary>
[HotPath]
public class PlaybackBenchmarks
{
    private const int Records = 20_000;
    private const int Callers = 64;
    private const int KeysOfCaller = 16;
    private const int Touched = 3;
    private const string Name = "dictionary";

    private static readonly TangoOptions s_options = new() { Checkpoints = null };

    private InMemoryCorfuLog _log = null!;

    [GlobalSetup(Target = nameof(PlayUpdate))]
    public Task WriteUpdatesAsync() => WriteAsync((_, dictionary, key) => dictionary.SetAsync(key, "a value"));

    [GlobalSetup(Target = nameof(PlayTransaction))]
    public Task WriteTransactionsAsync() => WriteAsync(async (runtime, dictionary, key) =>
    {
        var outcome = await runtime.RunTransactionAsync(async _ =>
        {
            for (var i = 0; i < Touched; i++)
            {
                await dictionary.TryGetAsync(key + i);
                await dictionary.SetAsync(key + i, "a value");
            }
        });
        outcome.ThrowIfNotCommitted();
    });

    [Benchmark(OperationsPerInvoke = Records)]
    public Task<int> PlayUpdate() => PlayAsync();

    /// <summary>A commit record with three reads and three writes.</summary>
    [Benchmark(OperationsPerInvoke = Records)]
    public Task<int> PlayTransaction() => PlayAsync();

    private async Task<int> PlayAsync()
    {
        await using var runtime = new TangoRuntime(_log, s_options);
        var dictionary = await runtime.OpenAsync<TangoDictionary<long, string>>(Name);
        return await dictionary.CountAsync();
    }

    // Each caller has keys of its own: nothing aborts.
    private async Task WriteAsync(Func<TangoRuntime, TangoDictionary<long, string>, long, ValueTask> write)
    {
        _log = new InMemoryCorfuLog();
        await using var runtime = new TangoRuntime(_log, s_options);
        var dictionary = await runtime.OpenAsync<TangoDictionary<long, string>>(Name, OpenMode.Create);
        await Window.RunAsync(Callers, Records, caller =>
            write(runtime, dictionary, (caller * KeysOfCaller) + Random.Shared.Next(KeysOfCaller - Touched)));
    }
}
