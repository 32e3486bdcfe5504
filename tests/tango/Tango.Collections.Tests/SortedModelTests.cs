using CsCheck;
using Map = Tango.Collections.TangoSortedDictionary<string, int>;
using MapModel = System.Collections.Generic.SortedDictionary<string, int>;
using Set = Tango.Collections.TangoSortedSet<string>;
using SetModel = System.Collections.Generic.SortedSet<string>;

namespace Tango.Collections.Tests;

/// <summary>The sorted collections against SortedDictionary and SortedSet in ordinal order.</summary>
public sealed class SortedModelTests
{
    private static readonly MapSteps<Map> s_mapSteps = new(
        (map, key, value) => map.SetAsync(key, value), (map, key, value) => map.TryAddAsync(key, value),
        (map, key, value) => map.GetOrAddAsync(key, value),
        (map, key, value, expected) => map.TryUpdateAsync(key, value, expected),
        (map, key) => map.RemoveAsync(key), (map, key) => map.TakeAsync(key), map => map.ClearAsync(),
        (map, key) => map.TryGetAsync(key), (map, key) => map.ContainsKeyAsync(key), map => map.CountAsync());

    private static readonly OrderedSteps<Map, KeyValuePair<string, int>> s_mapReads = new(
        map => map.FirstAsync(), map => map.LastAsync(), (map, key) => map.NextAsync(key),
        (map, key) => map.PreviousAsync(key), (map, range) => map.ScanAsync(range), pair => pair.Key);

    private static readonly SetSteps<Set> s_setSteps = new(
        (set, item) => set.AddAsync(item), (set, item) => set.EnsureAsync(item), (set, item) => set.RemoveAsync(item),
        (set, item) => set.DropAsync(item), set => set.ClearAsync(), (set, item) => set.ContainsAsync(item),
        set => set.CountAsync());

    private static readonly OrderedSteps<Set, string> s_setReads = new(
        set => set.FirstAsync(), set => set.LastAsync(), (set, item) => set.NextAsync(item),
        (set, item) => set.PreviousAsync(item), (set, range) => set.ScanAsync(range), item => item);

    private static readonly ModelCheck<Map, MapModel> s_map = new(
        Gen.Frequency((2, s_mapSteps.Against<MapModel>()), (1, s_mapReads.Against<MapModel>())),
        () => new MapModel(StringComparer.Ordinal),
        async map => (await map.SnapshotAsync()).ToArray(), model => model.ToArray());

    private static readonly ModelCheck<Set, SetModel> s_set = new(
        Gen.Frequency((2, s_setSteps.Against<SetModel>()), (1, s_setReads.Against<SetModel>())),
        () => new SetModel(StringComparer.Ordinal),
        async set => (await set.SnapshotAsync()).ToArray(), model => model.ToArray());

    [Fact]
    public Task A_dictionary_answers_as_SortedDictionary() => s_map.SequentialAsync();

    [Fact]
    public Task Concurrent_transactions_on_a_dictionary_are_serializable() => s_map.ConcurrentAsync();

    [Fact]
    public Task A_set_answers_as_SortedSet() => s_set.SequentialAsync();

    [Fact]
    public Task Concurrent_transactions_on_a_set_are_serializable() => s_set.ConcurrentAsync();
}
