using System.Collections.Immutable;
using Corfu.Client;
using Corfu.Store;
using Tango;

namespace Corfu.Load;

/// <summary>Calls of a key-value store that this process has open. Each caller puts a key of its own.</summary>
internal sealed class StoreWorkload : IWorkload
{
    private const int FillsAtOnce = 64;

    private readonly WorkloadKind _kind;
    private readonly WorkloadSetting _setting;
    private readonly CorfuStore _store;

    // The keys of each size that reads are of.
    private readonly Dictionary<int, Task> _filled = [];

    private StoreWorkload(WorkloadKind kind, WorkloadSetting setting, CorfuStore store) =>
        (_kind, _setting, _store) = (kind, setting, store);

    /// <param name="client">Stays the caller's, as the runtime over it.</param>
    public static async Task<StoreWorkload> OpenAsync(
        WorkloadKind kind, WorkloadSetting setting, CorfuClient client, TangoRuntime runtime)
    {
        var options = new StoreOptions();
        if (!setting.CachesValues) options = options with { ValueCacheBytes = 0 };
        return new StoreWorkload(
            kind, setting, await CorfuStore.OpenAsync(client, runtime, setting.Object, options));
    }

    public Func<int, ValueTask> Prepare(int callers, int size)
    {
        var each = size / _setting.Batch;
        ReadOnlyMemory<byte> value = CraqWorkload.Value(each);
        if (_kind == WorkloadKind.StorePut) return Put(callers, value);
        if (!_filled.TryGetValue(each, out var filled)) _filled.Add(each, filled = FillAsync(each, value));
        var random = Enumerable.Range(0, callers).Select(caller => new Random(caller)).ToArray();
        return async caller =>
        {
            if (!filled.IsCompletedSuccessfully) await filled;
            var first = random[caller].Next(_setting.Keys);
            ImmutableArray<StoreKey> keys = [.. Enumerable.Range(first, _setting.Batch)
                .Select(key => KeyOf(each, key % _setting.Keys))];
            var found = await _store.GetManyAsync(keys);
            if (found.Entries.Length != keys.Length || found.Entries[0].Value.Length != each)
                throw new CorfuException($"A read found {found.Entries.Length} keys, not {keys.Length}.");
        };
    }

    public ValueTask DisposeAsync() => _store.DisposeAsync();

    private Func<int, ValueTask> Put(int callers, ReadOnlyMemory<byte> value)
    {
        ImmutableArray<KeyValuePair<StoreKey, ReadOnlyMemory<byte>>>[] pairs =
            [.. Enumerable.Range(0, callers).Select(caller => Enumerable.Range(0, _setting.Batch)
                .Select(item => KeyValuePair.Create(
                    new StoreKey($"load-{Environment.ProcessId}-{caller}-{item}"), value)).ToImmutableArray())];
        var revisions = new RisingRevisions(callers);
        return _setting.Batch == 1
            ? async caller => revisions.Next(caller, await _store.PutAsync(pairs[caller][0].Key, value))
            : async caller => revisions.Next(caller, await _store.PutManyAsync(pairs[caller]));
    }

    private async Task FillAsync(int size, ReadOnlyMemory<byte> value)
    {
        foreach (var keys in Enumerable.Range(0, _setting.Keys).Chunk(FillsAtOnce))
            await Task.WhenAll(keys.Select(key => _store.PutAsync(KeyOf(size, key), value).AsTask()));
    }

    private static StoreKey KeyOf(int size, int key) => $"load-{Environment.ProcessId}-{size}-{key}";
}
