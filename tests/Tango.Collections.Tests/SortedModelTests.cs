using CsCheck;
using MapStep = Tango.Collections.Tests.Step<
    Tango.Collections.TangoSortedDictionary<string, int>,
    System.Collections.Generic.SortedDictionary<string, int>>;
using SetStep = Tango.Collections.Tests.Step<
    Tango.Collections.TangoSortedSet<string>, System.Collections.Generic.SortedSet<string>>;

namespace Tango.Collections.Tests;

/// <summary>The sorted collections against SortedDictionary and SortedSet in ordinal order.</summary>
public sealed class SortedModelTests
{
    private static readonly ModelCheck<TangoSortedDictionary<string, int>, SortedDictionary<string, int>> s_map = new(
        Gen.OneOf(
            Gen.Select(Keys.Any, Gen.Int[0, 2], (key, value) => MapStep.Write(
                $"set {key} {value}", map => map.SetAsync(key, value), model => model[key] = value)),
            Gen.Select(Keys.Any, Gen.Int[0, 2], (key, value) => MapStep.Write(
                $"try add {key} {value}", map => map.TryAddAsync(key, value), model => model.TryAdd(key, value))),
            Gen.Select(Keys.Any, Gen.Int[0, 2], (key, value) => MapStep.Write(
                $"get or add {key} {value}", map => map.GetOrAddAsync(key, value),
                model => model.TryAdd(key, value) ? value : model[key])),
            Gen.Select(Keys.Any, Gen.Int[0, 2], Gen.Int[0, 2], (key, value, expected) => MapStep.Write(
                $"try update {key} {value} {expected}", map => map.TryUpdateAsync(key, value, expected), model =>
                {
                    if (!model.TryGetValue(key, out int current) || current != expected) return false;
                    model[key] = value;
                    return true;
                })),
            Keys.Any.Select(key => MapStep.Write(
                $"remove {key}", map => map.RemoveAsync(key), model => model.Remove(key))),
            Keys.Any.Select(key => MapStep.Write($"take {key}", map => map.TakeAsync(key),
                model => model.Remove(key, out int value) ? Lookup.Of(value) : Lookup<int>.None)),
            Gen.Const(MapStep.Write("clear", map => map.ClearAsync(), model => model.Clear())),
            Keys.Any.Select(key => MapStep.Read($"get {key}", map => map.TryGetAsync(key),
                model => model.TryGetValue(key, out int value) ? Lookup.Of(value) : Lookup<int>.None)),
            Keys.Any.Select(key => MapStep.Read(
                $"contains {key}", map => map.ContainsKeyAsync(key), model => model.ContainsKey(key))),
            Gen.Const(MapStep.Read("count", map => map.CountAsync(), model => model.Count)),
            Gen.Const(MapStep.Read("first", map => map.FirstAsync(), model => First(model))),
            Gen.Const(MapStep.Read("last", map => map.LastAsync(), model => First(model.Reverse()))),
            Keys.Any.Select(key => MapStep.Read($"next {key}", map => map.NextAsync(key),
                model => First(model.Where(p => string.CompareOrdinal(p.Key, key) > 0)))),
            Keys.Any.Select(key => MapStep.Read($"previous {key}", map => map.PreviousAsync(key),
                model => First(model.Reverse().Where(p => string.CompareOrdinal(p.Key, key) < 0)))),
            Keys.Scans.Select(scan => MapStep.Read(scan.Text, async map => (await map.ScanAsync(scan.Range)).ToArray(),
                model => scan.Of(model, pair => pair.Key)))),
        () => new SortedDictionary<string, int>(StringComparer.Ordinal),
        MapStep.Read("all", async map => (await map.SnapshotAsync()).ToArray(), model => model.ToArray()));

    private static readonly ModelCheck<TangoSortedSet<string>, SortedSet<string>> s_set = new(
        Gen.OneOf(
            Keys.Any.Select(item => SetStep.Write(
                $"add {item}", set => set.AddAsync(item), model => model.Add(item))),
            Keys.Any.Select(item => SetStep.Write(
                $"ensure {item}", set => set.EnsureAsync(item), model => { model.Add(item); })),
            Keys.Any.Select(item => SetStep.Write(
                $"remove {item}", set => set.RemoveAsync(item), model => model.Remove(item))),
            Keys.Any.Select(item => SetStep.Write(
                $"drop {item}", set => set.DropAsync(item), model => { model.Remove(item); })),
            Gen.Const(SetStep.Write("clear", set => set.ClearAsync(), model => model.Clear())),
            Keys.Any.Select(item => SetStep.Read(
                $"contains {item}", set => set.ContainsAsync(item), model => model.Contains(item))),
            Gen.Const(SetStep.Read("count", set => set.CountAsync(), model => model.Count)),
            Gen.Const(SetStep.Read("first", set => set.FirstAsync(), model => First(model))),
            Gen.Const(SetStep.Read("last", set => set.LastAsync(), model => First(model.Reverse()))),
            Keys.Any.Select(item => SetStep.Read($"next {item}", set => set.NextAsync(item),
                model => First(model.Where(i => string.CompareOrdinal(i, item) > 0)))),
            Keys.Any.Select(item => SetStep.Read($"previous {item}", set => set.PreviousAsync(item),
                model => First(model.Reverse().Where(i => string.CompareOrdinal(i, item) < 0)))),
            Keys.Scans.Select(scan => SetStep.Read(scan.Text, async set => (await set.ScanAsync(scan.Range)).ToArray(),
                model => scan.Of(model, item => item)))),
        () => new SortedSet<string>(StringComparer.Ordinal),
        SetStep.Read("all", async set => (await set.SnapshotAsync()).ToArray(), model => model.ToArray()));

    [Fact]
    public Task A_dictionary_answers_as_SortedDictionary() => s_map.SequentialAsync();

    [Fact]
    public Task Concurrent_transactions_on_a_dictionary_are_serializable() => s_map.ConcurrentAsync();

    [Fact]
    public Task A_set_answers_as_SortedSet() => s_set.SequentialAsync();

    [Fact]
    public Task Concurrent_transactions_on_a_set_are_serializable() => s_set.ConcurrentAsync();

    private static Lookup<T> First<T>(IEnumerable<T> items) =>
        items.Select(Lookup.Of).FirstOrDefault();
}
