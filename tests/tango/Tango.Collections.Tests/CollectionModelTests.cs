using System.Runtime.CompilerServices;
using CsCheck;
using CounterStep = Tango.Collections.Tests.Step<
    Tango.Collections.TangoCounter, System.Runtime.CompilerServices.StrongBox<long>>;
using ListStep = Tango.Collections.Tests.Step<
    Tango.Collections.TangoList<int>, System.Collections.Generic.List<int>>;
using Map = Tango.Collections.TangoDictionary<string, int>;
using MapModel = System.Collections.Generic.Dictionary<string, int>;
using QueueStep = Tango.Collections.Tests.Step<
    Tango.Collections.TangoQueue<int>, System.Collections.Generic.Queue<int>>;
using RegisterStep = Tango.Collections.Tests.Step<
    Tango.Collections.TangoRegister<int>, System.Runtime.CompilerServices.StrongBox<int>>;
using Set = Tango.Collections.TangoSet<string>;
using SetModel = System.Collections.Generic.HashSet<string>;

namespace Tango.Collections.Tests;

/// <summary>The other collections against the .NET types of their shapes.</summary>
public sealed class CollectionModelTests
{
    private static readonly Gen<int> s_values = Gen.Int[0, 3];

    // Sums of them overflow at both ends.
    private static readonly long[] s_extremes = [1, -1, long.MaxValue, long.MinValue];

    private static readonly Gen<long> s_amounts = Gen.Int[0, 3].Select(i => s_extremes[i]);

    private static readonly MapSteps<Map> s_mapSteps = new(
        (map, key, value) => map.SetAsync(key, value), (map, key, value) => map.TryAddAsync(key, value),
        (map, key, value) => map.GetOrAddAsync(key, value),
        (map, key, value, expected) => map.TryUpdateAsync(key, value, expected),
        (map, key) => map.RemoveAsync(key), (map, key) => map.TakeAsync(key), map => map.ClearAsync(),
        (map, key) => map.TryGetAsync(key), (map, key) => map.ContainsKeyAsync(key), map => map.CountAsync());

    private static readonly SetSteps<Set> s_setSteps = new(
        (set, item) => set.AddAsync(item), (set, item) => set.EnsureAsync(item), (set, item) => set.RemoveAsync(item),
        (set, item) => set.DropAsync(item), set => set.ClearAsync(), (set, item) => set.ContainsAsync(item),
        set => set.CountAsync());

    private static readonly ModelCheck<Map, MapModel> s_map = new(
        s_mapSteps.Against<MapModel>(), () => [],
        async map => (await map.SnapshotAsync()).OrderBy(pair => pair.Key, StringComparer.Ordinal).ToArray(),
        model => model.OrderBy(pair => pair.Key, StringComparer.Ordinal).ToArray());

    private static readonly ModelCheck<Set, SetModel> s_set = new(
        s_setSteps.Against<SetModel>(), () => [],
        async set => (await set.SnapshotAsync()).Order(StringComparer.Ordinal).ToArray(),
        model => model.Order(StringComparer.Ordinal).ToArray());

    private static readonly ModelCheck<TangoList<int>, List<int>> s_list = new(
        Gen.OneOf(
            s_values.Select(item => ListStep.Write($"add {item}", list => list.AddAsync(item), list => list.Add(item))),
            Gen.Select(Gen.Int[-1, 4], s_values, (index, item) => ListStep.WriteOrReject(
                $"insert {index} {item}", async list =>
                {
                    await list.InsertAsync(index, item);
                    return 0;
                },
                model =>
                {
                    if (index < 0 || index > model.Count) return Lookup<int>.None;
                    model.Insert(index, item);
                    return Lookup.Of(0);
                })),
            Gen.Select(Gen.Int[-1, 4], s_values, (index, item) => ListStep.WriteOrReject(
                $"set {index} {item}", list => list.SetAsync(index, item), model =>
                {
                    Lookup<int> before = At(model, index);
                    if (before.Found) model[index] = item;
                    return before;
                })),
            Gen.Int[-1, 4].Select(index => ListStep.WriteOrReject(
                $"remove {index}", list => list.RemoveAtAsync(index), model =>
                {
                    Lookup<int> before = At(model, index);
                    if (before.Found) model.RemoveAt(index);
                    return before;
                })),
            Gen.Const(ListStep.Write("clear", list => list.ClearAsync(), model => model.Clear())),
            Gen.Int[-1, 4].Select(index => ListStep.Read(
                $"get {index}", list => list.TryGetAsync(index), model => At(model, index))),
            Gen.Const(ListStep.Read("count", list => list.CountAsync(), model => model.Count))),
        () => [], async list => (await list.SnapshotAsync()).ToArray(), model => model.ToArray());

    private static readonly ModelCheck<TangoQueue<int>, Queue<int>> s_queue = new(
        Gen.Frequency(
            (3, s_values.Select(item => QueueStep.Write(
                $"enqueue {item}", queue => queue.EnqueueAsync(item), model => model.Enqueue(item)))),
            (1, Gen.Const(QueueStep.Write("dequeue", queue => queue.TryDequeueAsync(),
                model => model.TryDequeue(out int item) ? Lookup.Of(item) : Lookup<int>.None))),
            (1, Gen.Int[-1, 3].Select(most => QueueStep.Write(
                $"dequeue {most}", async queue => (await queue.DequeueManyAsync(most)).ToArray(),
                model => Enumerable.Range(0, Math.Clamp(most, 0, model.Count)).Select(_ => model.Dequeue())
                    .ToArray()))),
            (1, Gen.Const(QueueStep.Write("clear", queue => queue.ClearAsync(), model => model.Clear()))),
            (1, Gen.Const(QueueStep.Read("peek", queue => queue.TryPeekAsync(),
                model => model.TryPeek(out int item) ? Lookup.Of(item) : Lookup<int>.None))),
            (1, Gen.Const(QueueStep.Read("count", queue => queue.CountAsync(), model => model.Count)))),
        () => [], async queue => (await queue.SnapshotAsync()).ToArray(), model => model.ToArray());

    private static readonly ModelCheck<TangoRegister<int>, StrongBox<int>> s_register = new(
        Gen.OneOf(
            s_values.Select(value => RegisterStep.Write(
                $"write {value}", register => register.WriteAsync(value), model => model.Value = value)),
            s_values.Select(value => RegisterStep.Write(
                $"exchange {value}", register => register.ExchangeAsync(value), model =>
                {
                    int before = model.Value;
                    model.Value = value;
                    return before;
                })),
            Gen.Select(s_values, s_values, (value, expected) => RegisterStep.Write(
                $"set {value} if {expected}", register => register.CompareAndSetAsync(value, expected), model =>
                {
                    bool isExpected = model.Value == expected;
                    if (isExpected) model.Value = value;
                    return isExpected;
                })),
            Gen.Const(RegisterStep.Read("read", register => register.ReadAsync(), model => model.Value))),
        () => new StrongBox<int>(), async register => await register.ReadAsync(), model => model.Value);

    private static readonly ModelCheck<TangoCounter, StrongBox<long>> s_counter = new(
        Gen.OneOf(
            s_amounts.Select(amount => CounterStep.Write($"add {amount}", counter => counter.AddAsync(amount),
                model => model.Value = (long)Int128.Clamp(
                    (Int128)model.Value + amount, long.MinValue, long.MaxValue))),
            s_amounts.Select(amount => CounterStep.WriteOrReject(
                $"increment {amount}", counter => counter.IncrementAsync(amount), model =>
                {
                    Int128 sum = (Int128)model.Value + amount;
                    if (sum < long.MinValue || sum > long.MaxValue) return Lookup<long>.None;
                    return Lookup.Of(model.Value = (long)sum);
                })),
            s_amounts.Select(value => CounterStep.Write(
                $"set {value}", counter => counter.SetAsync(value), model => model.Value = value)),
            Gen.Const(CounterStep.Read("read", counter => counter.ReadAsync(), model => model.Value))),
        () => new StrongBox<long>(), async counter => await counter.ReadAsync(), model => model.Value);

    [Fact]
    public Task A_dictionary_answers_as_Dictionary() => s_map.SequentialAsync();

    [Fact]
    public Task Concurrent_transactions_on_a_dictionary_are_serializable() => s_map.ConcurrentAsync();

    [Fact]
    public Task A_set_answers_as_HashSet() => s_set.SequentialAsync();

    [Fact]
    public Task Concurrent_transactions_on_a_set_are_serializable() => s_set.ConcurrentAsync();

    [Fact]
    public Task A_list_answers_as_List() => s_list.SequentialAsync();

    [Fact]
    public Task Concurrent_transactions_on_a_list_are_serializable() => s_list.ConcurrentAsync();

    [Fact]
    public Task A_queue_answers_as_Queue() => s_queue.SequentialAsync();

    [Fact]
    public Task Concurrent_transactions_on_a_queue_are_serializable() => s_queue.ConcurrentAsync();

    [Fact]
    public Task A_register_answers_as_a_variable() => s_register.SequentialAsync();

    [Fact]
    public Task Concurrent_transactions_on_a_register_are_serializable() => s_register.ConcurrentAsync();

    [Fact]
    public Task A_counter_answers_as_a_number() => s_counter.SequentialAsync();

    [Fact]
    public Task Concurrent_transactions_on_a_counter_are_serializable() => s_counter.ConcurrentAsync();

    private static Lookup<int> At(List<int> list, int index) =>
        index < 0 || index >= list.Count ? Lookup<int>.None : Lookup.Of(list[index]);
}
