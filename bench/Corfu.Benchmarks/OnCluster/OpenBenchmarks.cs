using BenchmarkDotNet.Attributes;
using Corfu.Client;
using Tango;
using Tango.Collections;

namespace Corfu.Benchmarks;

/// <summary>Cost of one dictionary for a process that starts: a connection, a runtime and the object, from its
/// checkpoint or from its history.</summary>
[OnCluster]
public class OpenBenchmarks
{
    private const int Writers = 4096;
    private const string Name = "dictionary";

    // The checkpoint is made on demand: without one, playback finds the history.
    private static readonly TangoOptions s_options = new() { Checkpoints = null };

    private BenchmarkCluster? _cluster;

    /// <summary>Keys of the dictionary, each written once.</summary>
    [Params(10_000, 100_000)]
    public int Entries { get; set; }

    [GlobalSetup(Target = nameof(OpenFromCheckpoint))]
    public Task WriteCheckpointAsync() => WriteAsync(isCheckpointed: true);

    [GlobalSetup(Target = nameof(OpenFromHistory))]
    public Task WriteHistoryAsync() => WriteAsync(isCheckpointed: false);

    [GlobalCleanup]
    public async Task CleanUpAsync()
    {
        if (_cluster is not null) await _cluster.DisposeAsync();
    }

    [Benchmark]
    public Task<int> OpenFromCheckpoint() => OpenAsync();

    [Benchmark(Baseline = true)]
    public Task<int> OpenFromHistory() => OpenAsync();

    private async Task<int> OpenAsync()
    {
        await using var client = await _cluster!.ConnectAsync();
        await using var runtime = new TangoRuntime(client, s_options);
        var dictionary = await runtime.OpenAsync<TangoDictionary<long, string>>(Name);
        var count = await dictionary.CountAsync();
        return count == Entries ? count : throw new InvalidDataException($"It has {count} keys, not {Entries}.");
    }

    private async Task WriteAsync(bool isCheckpointed)
    {
        try
        {
            _cluster = await BenchmarkCluster.StartAsync();
            await using var client = await _cluster.ConnectAsync();
            await using var runtime = new TangoRuntime(client, s_options);
            var dictionary = await runtime.OpenAsync<TangoDictionary<long, string>>(Name, OpenMode.Create);
            var value = new string('.', 100);
            var next = -1;
            await Window.RunAsync(Writers, Entries,
                async _ => await dictionary.SetAsync(Interlocked.Increment(ref next), value));
            if (isCheckpointed) await runtime.Checkpoints.WriteAsync(dictionary);
        }
        catch
        {
            await CleanUpAsync();
            throw;
        }
    }
}
