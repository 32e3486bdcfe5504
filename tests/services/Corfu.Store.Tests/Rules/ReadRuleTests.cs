using Corfu.Store.Tests.Support;
using static Corfu.Store.Tests.Support.StoreWorld;

namespace Corfu.Store.Tests.Rules;

/// <summary>Rules K5, K6, K11, K12 and K14: what reads see, and what is kept for them.</summary>
public sealed class ReadRuleTests : IAsyncDisposable
{
    private static readonly StoreOptions s_apart = new() { InlineBytes = 0, ValueCacheBytes = 0 };

    private readonly StoreWorld _world = new(tango: new TangoOptions { NewLogMaxSpan = 8, NewLogVersionAge = 16 });

    public ValueTask DisposeAsync() => _world.DisposeAsync();

    [Fact]
    public async Task K5_values_of_one_call_are_of_one_view()
    {
        var (store, log, other, _) = await OpenPairAsync();
        await store.PutManyAsync([new("a", Bytes("1")), new("b", Bytes("1"))]);
        log.BeforeRead = async () =>
        {
            log.BeforeRead = static () => ValueTask.CompletedTask;
            await other.PutManyAsync([new("a", Bytes("2")), new("b", Bytes("2"))]);
        };
        Assert.Equal("a=1 b=1", Text(await store.GetManyAsync(["a", "b"])));
        Assert.Equal("a=2 b=2", Text(await store.GetManyAsync(["a", "b"])));
    }

    [Fact]
    public async Task K5_call_whose_view_is_trimmed_is_read_again_from_a_newer_one()
    {
        var (store, log, other, process) = await OpenPairAsync();
        await store.PutManyAsync([new("a", Bytes("1")), new("b", Bytes("1"))]);
        log.BeforeRead = async () =>
        {
            log.BeforeRead = static () => ValueTask.CompletedTask;
            await SupersedeAsync(other, process);
        };
        Assert.Equal("a=2 b=2", Text(await store.GetManyAsync(["a", "b"])));
        await Assert.ThrowsAsync<StoreCompactedException>(async () => await store.GetAsync("a", ReadAs.At(2)));
    }

    [Fact]
    public async Task K5_scan_of_a_revision_that_is_trimmed_meanwhile_fails_typed()
    {
        var (store, _, other, process) = await OpenPairAsync();
        await PutNumberedAsync(store);
        var seen = 0;
        await Assert.ThrowsAsync<StoreCompactedException>(async () =>
        {
            await foreach (var _ in store.ScanAsync(StoreRange.All))
            {
                if (seen++ > 0) continue;
                await other.DeleteAsync(StoreRange.All);
                await SupersedeAsync(other, process);
            }
        });
        Assert.Equal(256, seen);
    }

    [Fact]
    public async Task K5_scan_of_a_revision_outlives_a_move_and_a_trim()
    {
        var (store, _, other, process) = await OpenPairAsync();
        await PutNumberedAsync(store);
        var seen = 0;
        await foreach (var entry in store.ScanAsync(StoreRange.All))
        {
            Assert.Equal(($"{seen:d4}", "1"), (entry.Key.ToString(), Text(entry)));
            if (seen++ > 0) continue;
            await other.PutAsync("0299", Bytes("2"));
            await other.PutAsync("new", Bytes("2"));
            await other.MoveValuesAsync(await _world.Host.TailAsync());
            for (var i = 0; i < 20; i++) await other.GrantLeaseAsync(TimeSpan.FromHours(1));
            await _world.TrimAsync(process);
        }

        Assert.Equal(300, seen);
    }

    [Fact]
    public async Task K14_scan_tells_a_lost_value_and_no_compaction()
    {
        var (store, _, _, _) = await OpenPairAsync();
        await PutNumberedAsync(store);
        var seen = 0;
        await Assert.ThrowsAsync<StoreValueLostException>(async () =>
        {
            await foreach (var _ in store.ScanAsync(StoreRange.All))
            {
                if (seen++ == 0) await _world.Host.TrimBelowAsync(await _world.Host.TailAsync());
            }
        });
        Assert.Equal(256, seen);
    }

    [Fact]
    public async Task K6_cached_value_is_the_one_of_the_place()
    {
        var store = await _world.OpenAsync(new StoreOptions { InlineBytes = 0 });
        for (var i = 1; i <= 3; i++)
        {
            await store.PutAsync("a", Bytes($"{i}"));
            Assert.Equal($"{i}", Text(await store.GetAsync("a")));
        }

        Assert.Equal("1", Text(await store.GetAsync("a", ReadAs.At(2))));
    }

    [Fact]
    public async Task K6_cached_value_is_not_read_again_while_there_is_room()
    {
        var process = _world.Start();
        var log = new HookedLog(process.Connection);
        var store = await _world.OpenAsync(process, log, new StoreOptions { InlineBytes = 0, ValueCacheBytes = 400 });
        await store.PutManyAsync([new("a", new byte[100]), new("b", new byte[100])]);
        await store.GetAsync("a");
        await store.GetAsync("a");
        Assert.Equal(1, log.Reads);
        await store.GetAsync("b");
        await store.GetAsync("a");
        Assert.Equal(3, log.Reads);
    }

    [Fact]
    public async Task K11_compacted_revisions_are_unreadable_at_once_and_versions_go_by_and_by()
    {
        var process = _world.Start();
        var store = await _world.OpenAsync(process);
        for (var i = 0; i < 200; i++) await store.PutAsync($"{i % 4}", Bytes($"{i}"));
        await store.DeleteAsync("3");
        Assert.True(await store.CompactAsync(150));
        Assert.False(await store.CompactAsync(150));
        var compacted = await Assert.ThrowsAsync<StoreCompactedException>(
            async () => await store.RangeAsync(StoreRange.All, at: ReadAs.At(149)));
        Assert.Equal(150, compacted.Oldest);
        Assert.Equal("0=148 1=145 2=146 3=147", Text(await store.RangeAsync(StoreRange.All, at: ReadAs.At(150))));
        await Assert.ThrowsAsync<StoreCompactedException>(async () => await store.CompactAsync(149));
        await Assert.ThrowsAsync<StoreRevisionAheadException>(async () => await store.CompactAsync(1000));
        Assert.True(await store.CompactAsync(202, waitForDrop: true));
        Assert.Equal("0=196 1=197 2=198", Text(await store.RangeAsync(StoreRange.All)));
    }

    [Fact]
    public async Task K11_process_that_loads_a_checkpoint_drops_as_one_that_played()
    {
        var process = _world.Start();
        var store = await _world.OpenAsync(process);
        for (var i = 0; i < 300; i++) await store.PutAsync($"{i % 4}", new byte[10]);
        await store.PinAsync("pin");
        await store.CompactAsync(301);
        for (var i = 0; i < 300; i++) await store.PutAsync($"{i % 4}", new byte[10]);
        await store.CompactAsync(601);
        await store.UnpinAsync("pin");
        await _world.TrimAsync(process);
        var loaded = _world.Start();
        var second = await _world.OpenAsync(loaded);
        await store.PutAsync("a", Bytes("1"));
        await second.GetAsync("a");
        await store.GetAsync("a");
        Assert.Equal(await StateBytesAsync(process), await StateBytesAsync(loaded));
        await store.CompactAsync(602, waitForDrop: true);
        await second.GetAsync("a");
        Assert.Equal(await StateBytesAsync(process), await StateBytesAsync(loaded));
    }

    [Fact]
    public async Task K12_move_leaves_a_key_alone_that_was_written_meanwhile()
    {
        var (store, log, other, _) = await OpenPairAsync();
        await store.PutAsync("a", Bytes("1"));
        await store.PutAsync("b", Bytes("1"));
        log.BeforeRead = async () =>
        {
            log.BeforeRead = static () => ValueTask.CompletedTask;
            await other.PutAsync("a", Bytes("2"));
        };
        Assert.Equal(2, await store.MoveValuesAsync(await _world.Host.TailAsync()));
        Assert.Equal("a=2 b=1", Text(await store.RangeAsync(StoreRange.All)));
        Assert.Equal("a=1 b=1", Text(await store.RangeAsync(StoreRange.All, at: ReadAs.At(3))));
    }

    [Fact]
    public async Task K12_moved_values_let_the_log_go_and_keep_revisions()
    {
        var (store, _, other, process) = await OpenPairAsync();
        await store.PutAsync("a", Bytes("1"));
        await store.PutAsync("a", Bytes("2"));
        await store.TransactAsync(StoreTransaction.Empty.Then(new StorePut("a", default) { KeepsValue = true }));
        await other.PutAsync("b", new byte[5000]);
        await other.DeleteAsync("b");
        await store.PutAsync("c", Bytes("3"));
        var before = await _world.Host.TailAsync();
        for (var i = 0; i < 20; i++) await other.GrantLeaseAsync(TimeSpan.FromHours(1));
        Assert.True(await _world.TrimAsync(process) < before);
        // The version that kept its value has the same place: one copy, two versions.
        Assert.Equal(5, await store.MoveValuesAsync(before));
        Assert.Equal(0, await store.MoveValuesAsync(before));
        for (var i = 0; i < 20; i++) await other.GrantLeaseAsync(TimeSpan.FromHours(1));
        Assert.True(await _world.TrimAsync(process) > before);
        var late = await _world.OpenAsync(s_apart);
        Assert.Equal("a=2 c=3", Text(await late.RangeAsync(StoreRange.All)));
        Assert.Equal("a=1", Text(await late.RangeAsync(StoreRange.All, at: ReadAs.At(2))));
        Assert.Equal(5000, (await late.GetAsync("b", ReadAs.At(5)))!.Value.Length);
    }

    [Theory]
    [InlineData(40, 60_000)]
    [InlineData(3_000, 0)]
    public async Task Move_is_of_as_many_records_as_the_keys_and_versions_need(int versions, int keyBytes)
    {
        var (store, log, _, _) = await OpenPairAsync();
        var key = new StoreKey(new byte[keyBytes]);
        await store.PutAsync(key, Bytes("1"));
        // All versions have one value.
        await Task.WhenAll(Enumerable.Range(1, versions).Select(_ => store.TransactAsync(
            StoreTransaction.Empty.Then(new StorePut(key, default) { KeepsValue = true })).AsTask()));
        var before = log.Appends;
        Assert.Equal(versions + 1, await store.MoveValuesAsync(await _world.Host.TailAsync()));
        Assert.InRange(log.Appends - before, 2, versions + 1);
        foreach (var revision in new[] { 2, versions / 2, versions + 2 })
            Assert.Equal("1", Text(await store.GetAsync(key, ReadAs.At(revision))));
    }

    [Fact]
    public async Task K14_value_that_the_log_has_lost_is_never_told_as_absent()
    {
        var process = _world.Start();
        var store = await _world.OpenAsync(process, s_apart);
        await store.PutAsync("a", Bytes("1"));
        await store.PutAsync("b", Bytes("2"), await store.GrantLeaseAsync(TimeSpan.FromHours(1)));
        await _world.Host.TrimBelowAsync(await _world.Host.TailAsync());
        var lost = await Assert.ThrowsAsync<StoreValueLostException>(async () => await store.GetAsync("b"));
        Assert.Equal(("b", 3), (lost.Key.ToString(), lost.Revision));
        await Assert.ThrowsAsync<StoreValueLostException>(
            async () => await TakeAsync(store.WatchAsync(StoreRange.All, 2), 1));
        // Keys are known.
        Assert.Equal(2, (await store.RangeAsync(StoreRange.All, new RangeOptions { KeysOnly = true })).Count);
    }

    [Fact]
    public async Task K14_log_that_is_behind_a_revision_of_the_clients_is_refused()
    {
        var store = await _world.OpenAsync();
        await store.PutAsync("a", Bytes("1"));
        var behind = await Assert.ThrowsAsync<StoreBehindException>(
            () => _world.OpenAsync(_world.Start(), minRevision: 3));
        Assert.Equal((2, 3), (behind.Has, behind.Wanted));
        await _world.OpenAsync(_world.Start(), minRevision: 2);
    }

    [Fact]
    public async Task Log_is_kept_for_the_values_that_the_store_has()
    {
        var process = _world.Start();
        var store = await _world.OpenAsync(process, s_apart);
        await store.PutAsync("a", Bytes("1"));
        for (var i = 0; i < 30; i++) await store.GrantLeaseAsync(TimeSpan.FromHours(1));
        await _world.TrimAsync(process);
        Assert.Equal("1", Text(await store.GetAsync("a")));
        Assert.Equal("1", Text(await (await _world.OpenAsync(s_apart)).GetAsync("a")));
    }

    [Fact]
    public async Task Pinned_revision_and_later_ones_are_readable_until_the_pin_ends()
    {
        var store = await _world.OpenAsync();
        await store.PutAsync("a", Bytes("1"));
        Assert.Equal(2, await store.PinAsync("report"));
        await store.PutAsync("a", Bytes("2"));
        await store.DeleteAsync("a");
        await store.CompactAsync(4, waitForDrop: true);
        Assert.Equal("1", Text(await store.GetAsync("a", ReadAs.At(2))));
        Assert.Equal("2", Text(await store.GetAsync("a", ReadAs.At(3))));
        Assert.Equal("3:a=2 4:a-", Text(await TakeAsync(store.WatchAsync("a", 3), 2)));
        var below = await Assert.ThrowsAsync<StoreCompactedException>(
            async () => await store.GetAsync("a", ReadAs.At(1)));
        Assert.Equal(2, below.Oldest);
        Assert.Equal(5, await store.RevertAsync(2));
        Assert.Equal("1", Text(await store.GetAsync("a")));
        await Assert.ThrowsAsync<ArgumentException>(async () => await store.UnpinAsync("\uD800"));
        await store.UnpinAsync("report");
        await Assert.ThrowsAsync<StoreCompactedException>(async () => await TakeAsync(store.WatchAsync("a", 3), 2));
        await Assert.ThrowsAsync<StoreCompactedException>(async () => await store.GetAsync("a", ReadAs.At(2)));
    }

    [Fact]
    public async Task Store_that_keeps_so_many_revisions_compacts_itself()
    {
        var store = await _world.OpenAsync(new StoreOptions { KeepRevisions = 3 });
        for (var i = 1; i <= 10; i++) await store.PutAsync("a", Bytes($"{i}"));
        Assert.Equal("8", Text(await store.GetAsync("a", ReadAs.At(9))));
        await Assert.ThrowsAsync<StoreCompactedException>(async () => await store.GetAsync("a", ReadAs.At(8)));
    }

    private async Task<(CorfuStore Store, HookedLog Log, CorfuStore Other, Tango.Testing.TestProcess Process)>
        OpenPairAsync()
    {
        var process = _world.Start();
        var log = new HookedLog(process.Connection);
        var other = _world.Start();
        return (await _world.OpenAsync(process, log, s_apart), log, await _world.OpenAsync(other, s_apart), other);
    }

    private static async Task PutNumberedAsync(CorfuStore store) => await store.PutManyAsync(
        [.. Enumerable.Range(0, 300).Select(static i =>
            new KeyValuePair<StoreKey, ReadOnlyMemory<byte>>($"{i:d4}", Bytes("1")))]);

    // Everything that is there is superseded, compacted and trimmed.
    private async Task SupersedeAsync(CorfuStore store, Tango.Testing.TestProcess process)
    {
        await store.PutManyAsync([new("a", Bytes("2")), new("b", Bytes("2"))]);
        // The revision that superseded them is below the floor, too.
        await store.CompactAsync(await store.PutAsync("z", Bytes("2")), waitForDrop: true);
        for (var i = 0; i < 20; i++) await store.GrantLeaseAsync(TimeSpan.FromHours(1));
        await _world.TrimAsync(process);
    }

    private static async Task<byte[]> StateBytesAsync(Tango.Testing.TestProcess process)
    {
        var index = await process.Runtime.OpenAsync<Index.StoreIndex>("store");
        var state = new ArgumentBuffer();
        Index.StatePages.Save(state, await index.ReadAsync(CancellationToken.None));
        return state.WrittenSpan.ToArray();
    }
}
