using Corfu.Store.Tests.Support;
using CsCheck;
using Tango.Testing;
using static Corfu.Store.Tests.Support.StoreWorld;

namespace Corfu.Store.Tests.Model;

/// <summary>Random programs of two processes, on a log that loses appends and answers, against a list of maps: every
/// readable revision, every answer, every change that a watch tells, and the same after a trim.</summary>
public sealed class StoreModelTests
{
    private enum Step
    {
        Put,
        Delete,
        Transact,
        TestAndSet,
        Compact,
        Pin,
        Unpin,
        Revert,
        Grant,
        EndLease,
        Move,
        Trim,
    }

    private static readonly Gen<(Step Step, int A, int B, AppendFault Fault)> s_step = Gen.Select(
        Gen.Frequency((10, Gen.Const(Step.Put)), (3, Gen.Const(Step.Delete)), (6, Gen.Const(Step.Transact)),
            (3, Gen.Const(Step.TestAndSet)), (2, Gen.Const(Step.Compact)), (1, Gen.Const(Step.Pin)),
            (1, Gen.Const(Step.Unpin)), (1, Gen.Const(Step.Revert)), (1, Gen.Const(Step.Grant)),
            (1, Gen.Const(Step.EndLease)), (1, Gen.Const(Step.Move)), (1, Gen.Const(Step.Trim))),
        Gen.Int[0, 999], Gen.Int[0, 999],
        Gen.Frequency((12, Gen.Const(AppendFault.None)), (1, Gen.Const(AppendFault.LeaveHole)),
            (1, Gen.Const(AppendFault.WrittenButUnknown)), (1, Gen.Const(AppendFault.LostAndUnknown))));

    [Fact]
    public async Task Store_is_a_list_of_maps() => await Gen.Select(s_step.Array[1, 60], Gen.Int[0, 2]).SampleAsync(
        async run =>
        {
            var faults = new Faults();
            await using var world = new StoreWorld(
                new InMemoryLogOptions { NextAppendFault = faults.Next },
                new TangoOptions { NewLogMaxSpan = 8, NewLogVersionAge = 16 });
            // No value, some or most of them stand in records.
            var options = new StoreOptions { InlineBytes = run.Item2 * 4, ValueCacheBytes = run.Item2 * 200 };
            var model = new Run(world, faults, options);
            await model.BeginAsync();
            foreach (var (step, a, b, fault) in run.Item1) await model.DoAsync(step, a, b, fault);
            await model.EndAsync();
        }, iter: 60);

    /// <summary>The fault of one append, the next one.</summary>
    private sealed class Faults
    {
        private int _next;

        public void Arm(AppendFault fault) => Interlocked.Exchange(ref _next, (int)fault);

        public AppendFault Next() => (AppendFault)Interlocked.Exchange(ref _next, (int)AppendFault.None);
    }

    private sealed class Run(StoreWorld world, Faults faults, StoreOptions options)
    {
        private readonly PlainStore _model = new();
        private readonly TestProcess[] _processes = [world.Start(), world.Start()];
        private CorfuStore[] _stores = [];

        public async Task BeginAsync() => _stores =
            [await world.OpenAsync(_processes[0], options), await world.OpenAsync(_processes[1], options)];

        public async Task DoAsync(Step step, int a, int b, AppendFault fault)
        {
            var store = _stores[a % 2];
            var (key, value) = (Key(a / 2), new string((char)('p' + (b % 5)), 1 + (b % 9)));
            switch (step)
            {
                case Step.Put:
                    var lease = b % 3 == 0 ? _model.Leases.FirstOrDefault() : 0;
                    await WriteAsync(store, StoreTransaction.Empty.Then(new StorePut(key, Bytes(value), lease)),
                        () => _model.Change(map => _model.Put(map, key, value, lease)), fault);
                    break;
                case Step.Delete:
                    await WriteAsync(store, StoreTransaction.Empty.Then(new StoreDelete(new StoreRange(key, Key(b)))),
                        () => _model.Change(map => Delete(map, key, Key(b))), fault);
                    break;
                case Step.Transact:
                    await TransactAsync(store, key, Key(b), value, fault);
                    break;
                case Step.TestAndSet:
                    var expected = b % 2 == 0 ? 0 : _model.Newest.GetValueOrDefault(key)?.Revision ?? 0;
                    var holds = (_model.Newest.GetValueOrDefault(key)?.Revision ?? 0) == expected;
                    await WriteAsync(store, StoreTransaction.Empty
                            .If(StoreCondition.Revision(key, Relation.Equal, expected))
                            .Then(new StorePut(key, Bytes(value))),
                        () => holds && _model.Change(map => _model.Put(map, key, value, 0)), fault);
                    break;
                default:
                    await KeepHouseAsync(store, step, a, b);
                    break;
            }

            var page = await _stores[b % 2].RangeAsync(StoreRange.All);
            Assert.Equal((_model.Revision, _model.Show(_model.Revision)), (page.Revision, Show(page)));
        }

        private async Task KeepHouseAsync(CorfuStore store, Step step, int a, int b)
        {
            switch (step)
            {
                case Step.Compact:
                    var revision = _model.Floor + (b % (_model.Revision - _model.Floor + 1));
                    await store.CompactAsync(revision, waitForDrop: a % 4 == 0);
                    _model.Compact(revision);
                    break;
                case Step.Pin:
                    Assert.Equal(_model.Revision, await store.PinAsync($"{a % 2}"));
                    _model.Pin($"{a % 2}");
                    break;
                case Step.Unpin:
                    await store.UnpinAsync($"{a % 2}");
                    _model.Unpin($"{a % 2}");
                    break;
                case Step.Revert:
                    var readable = _model.Readable.ToArray();
                    var past = readable[b % readable.Length];
                    var now = await store.RevertAsync(past);
                    _model.Revert(past);
                    Assert.Equal(_model.Revision, now);
                    break;
                case Step.Grant:
                    _model.Grant(await store.GrantLeaseAsync(TimeSpan.FromHours(1)));
                    break;
                case Step.EndLease:
                    if (_model.Leases.Count == 0) break;
                    var ended = _model.Leases.ElementAt(b % _model.Leases.Count);
                    await store.EndLeaseAsync(ended);
                    _model.EndLease(ended);
                    break;
                case Step.Move:
                    await store.MoveValuesAsync(await world.Host.TailAsync());
                    break;
                case Step.Trim:
                    // Behind the values of a moment ago.
                    for (var i = 0; i < 10; i++) await store.UnpinAsync("none");
                    await world.TrimAsync(_processes[b % 2]);
                    // The other one goes on from a checkpoint.
                    foreach (var one in _stores) await one.RangeAsync(StoreRange.All);
                    break;
            }
        }

        public async Task EndAsync()
        {
            await world.TrimAsync(_processes[0]);
            var late = await world.OpenAsync(options);
            foreach (var store in _stores.Append(late))
            {
                foreach (var revision in _model.Readable)
                {
                    Assert.Equal(_model.Show(revision),
                        Show(await store.RangeAsync(StoreRange.All, at: ReadAs.At(revision))));
                }

                var from = Math.Max(_model.Oldest, 2);
                var expected = new List<string>();
                for (var revision = from; revision <= _model.Revision; revision++)
                    expected.Add(_model.ShowChanges(revision));
                var told = await TakeAsync(store.WatchAsync(StoreRange.All, from), expected.Count);
                Assert.Equal(expected, told.Select(static one => Sorted(one)));
            }
        }

        private async Task TransactAsync(CorfuStore store, string key, string other, string value, AppendFault fault)
        {
            var before = _model.Newest.ToDictionary(static pair => pair.Key, static pair => pair.Value);
            var holds = before.TryGetValue(key, out var entry) && entry.Value == value;
            var transaction = StoreTransaction.Empty.If(StoreCondition.Value(key, Relation.Equal, Bytes(value)))
                .Then(new StoreDelete(key) { Previous = true }, new StorePut("z", Bytes(value)))
                .Else(new StoreGet(StoreRange.All), new StorePut(key, Bytes(value)) { Previous = true },
                    new StoreNested(StoreTransaction.Empty.If(StoreCondition.Version(other, Relation.Greater, 1))
                        .Then(new StorePut("y", Bytes(value)))));
            var result = await WriteAsync(store, transaction, () => _model.Change(map =>
            {
                if (holds)
                {
                    map.Remove(key);
                    _model.Put(map, "z", value, 0);
                    return;
                }

                _model.Put(map, key, value, 0);
                if (before.GetValueOrDefault(other)?.Version > 1) _model.Put(map, "y", value, 0);
            }), fault);
            if (result is null) return;
            Assert.Equal(holds, result.Succeeded);
            if (holds)
            {
                var deletion = (DeleteAnswer)result.Answers[0];
                Assert.Equal((1, value), (deletion.Count, Text(deletion.Previous[0])));
                return;
            }

            Assert.Equal(PlainStore.Show(before.OrderBy(static pair => pair.Key, StringComparer.Ordinal)),
                Show(((GetAnswer)result.Answers[0]).Found));
            Assert.Equal(entry?.Value, Text(((PutAnswer)result.Answers[1]).Previous));
            Assert.Equal(before.GetValueOrDefault(other)?.Version > 1, ((NestedAnswer)result.Answers[2]).Succeeded);
        }

        /// <returns>Null: the write ended in doubt.</returns>
        private async Task<StoreResult?> WriteAsync(
            CorfuStore store, StoreTransaction transaction, Func<bool> change, AppendFault fault)
        {
            faults.Arm(fault);
            try
            {
                var result = await store.TransactAsync(transaction);
                change();
                Assert.Equal(_model.Revision, result.Revision);
                return result;
            }
            catch (StoreInDoubtException doubt)
            {
                faults.Arm(AppendFault.None);
                var fate = await store.ResolveAsync(doubt);
                if (fate.Outcome == StoreOutcome.NotWritten) return null;
                var changed = change();
                Assert.Equal(
                    changed ? new StoreFate(StoreOutcome.Done, _model.Revision)
                        : new StoreFate(StoreOutcome.NothingChanged), fate);
                return null;
            }
            finally
            {
                faults.Arm(AppendFault.None);
            }
        }

        private static void Delete(SortedDictionary<string, PlainEntry> map, string from, string to)
        {
            foreach (var key in map.Keys.Where(key => string.CompareOrdinal(key, from) >= 0
                && string.CompareOrdinal(key, to) < 0).ToArray()) map.Remove(key);
        }

        private static string Key(int number) => $"{(char)('a' + (number % 6))}";

        private static string Show(StoreEntries page) => string.Join(' ', page.Entries.Select(static entry =>
            $"{entry.Key}={Text(entry.Value)}/{entry.Created}/{entry.Revision}/{entry.Version}/{entry.Lease}"));

        private static string Sorted(StoreChanges changes) => Text([changes with
        {
            Changes = [.. changes.Changes.OrderBy(static change => change.Key)],
        }]);
    }
}
