using Corfu.Store.Tests.Support;
using static Corfu.Store.Tests.Support.StoreWorld;

namespace Corfu.Store.Tests;

/// <summary>Calls of one store, and of processes that share it.</summary>
public sealed class StoreTests : IAsyncDisposable
{
    private readonly StoreWorld _world = new();

    public ValueTask DisposeAsync() => _world.DisposeAsync();

    [Fact]
    public async Task Put_is_read_by_every_process()
    {
        var store = await _world.OpenAsync();
        var other = await _world.OpenAsync();
        Assert.Equal(1, store.Revision);
        Assert.Equal(2, await store.PutAsync("a", Bytes("1")));
        Assert.Equal(3, await other.PutAsync("a", Bytes("2")));
        var entry = (await store.GetAsync("a"))!;
        Assert.Equal("2", Text(entry));
        Assert.Equal((2, 3, 2, 0), (entry.Created, entry.Revision, entry.Version, entry.Lease));
        Assert.Null(await other.GetAsync("b"));
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(1024)]
    [InlineData(1025)]
    [InlineData(200_000)]
    public async Task Value_of_any_size_comes_back(int size)
    {
        var store = await _world.OpenAsync();
        var value = new byte[size];
        new Random(size).NextBytes(value);
        await store.PutAsync("a", value);
        Assert.Equal(value, (await (await _world.OpenAsync()).GetAsync("a"))!.Value.ToArray());
    }

    [Fact]
    public async Task Range_is_in_the_order_of_bytes_and_has_a_count()
    {
        var store = await _world.OpenAsync();
        foreach (var key in new[] { "b", "a", "é", "B", "ab", "" }) await store.PutAsync(key, Bytes(key));
        Assert.Equal("= B=B a=a ab=ab b=b é=é", Text(await store.RangeAsync(StoreRange.All)));
        Assert.Equal("a=a ab=ab", Text(await store.RangeAsync(StoreRange.Prefix("a"))));
        Assert.Equal("a=a ab=ab", Text(await store.RangeAsync(new StoreRange("a", "b"))));
        var page = await store.RangeAsync(StoreRange.All, new RangeOptions { Limit = 2 });
        Assert.Equal((2, 6, true), (page.Entries.Length, page.Count, page.HasMore));
        Assert.Equal(6, (await store.RangeAsync(StoreRange.All, new RangeOptions { CountOnly = true })).Count);
        var keys = await store.RangeAsync("ab", new RangeOptions { KeysOnly = true });
        Assert.Equal("ab=", Text(keys));
        Assert.Empty((await store.RangeAsync(new StoreRange("b", "a"))).Entries);
    }

    [Fact]
    public async Task Deletion_has_a_revision_if_there_was_a_key()
    {
        var store = await _world.OpenAsync();
        await store.PutAsync("a", Bytes("1"));
        await store.PutAsync("b", Bytes("2"));
        Assert.Equal(new StoreDeletion(3, 0), await store.DeleteAsync("c"));
        Assert.Equal(new StoreDeletion(4, 2), await store.DeleteAsync(StoreRange.All));
        Assert.Equal(new StoreDeletion(4, 0), await store.DeleteAsync(StoreRange.All));
        await store.PutAsync("a", Bytes("3"));
        var entry = (await store.GetAsync("a"))!;
        Assert.Equal((5, 5, 1), (entry.Created, entry.Revision, entry.Version));
    }

    [Fact]
    public async Task Past_revision_is_read_unchanged()
    {
        var store = await _world.OpenAsync();
        await store.PutAsync("a", Bytes("1"));
        await store.PutAsync("b", Bytes("2"));
        await store.DeleteAsync("a");
        await store.PutAsync("a", Bytes("3"));
        string[] expected = ["", "a=1", "a=1 b=2", "b=2", "a=3 b=2"];
        for (var revision = 1; revision <= 5; revision++)
        {
            var entries = await store.RangeAsync(StoreRange.All, at: ReadAs.At(revision));
            Assert.Equal((expected[revision - 1], 5), (Text(entries), entries.Revision));
        }

        var ahead = await Assert.ThrowsAsync<StoreRevisionAheadException>(
            async () => await store.GetAsync("a", ReadAs.At(6)));
        Assert.Equal(5, ahead.Newest);
    }

    [Fact]
    public async Task Multi_put_is_one_revision_and_multi_get_another_ones_view()
    {
        var store = await _world.OpenAsync();
        var revision = await store.PutManyAsync([new("a", Bytes("1")), new("b", new byte[5000]), new("c", Bytes("3"))]);
        Assert.Equal(2, revision);
        var many = await store.GetManyAsync(["c", "x", "b"]);
        Assert.Equal(["c", "b"], many.Entries.Select(static entry => entry.Key.ToString()));
        Assert.All(many.Entries, entry => Assert.Equal(2, entry.Revision));
    }

    [Fact]
    public async Task Many_small_values_take_entries_as_large_ones_do()
    {
        var process = _world.Start();
        var log = new HookedLog(process.Connection);
        var store = await _world.OpenAsync(process, log);
        await store.PutManyAsync([.. Enumerable.Range(0, 4096).Select(static i =>
            new KeyValuePair<StoreKey, ReadOnlyMemory<byte>>($"{i:d4}", new byte[1024]))]);
        Assert.Equal(63, log.Appends);
        var range = await store.RangeAsync(StoreRange.All);
        Assert.Equal(4096, range.Count);
        Assert.All(range.Entries, static entry => Assert.Equal(1024, entry.Value.Length));
    }

    [Fact]
    public async Task Test_and_set_is_decided_by_the_keys_revision()
    {
        var store = await _world.OpenAsync();
        Assert.Equal(new StoreTest(true, 2), await store.TestAndSetAsync("a", 0, Bytes("1")));
        Assert.Equal(new StoreTest(false, 2), await store.TestAndSetAsync("a", 0, Bytes("2")));
        Assert.Equal(new StoreTest(true, 3), await store.TestAndSetAsync("a", 2, Bytes("3")));
        Assert.Equal("3", Text(await store.GetAsync("a")));
    }

    [Fact]
    public async Task Scan_tells_all_keys_of_one_revision()
    {
        var store = await _world.OpenAsync();
        await store.PutManyAsync([.. Enumerable.Range(0, 600).Select(static i =>
            new KeyValuePair<StoreKey, ReadOnlyMemory<byte>>($"{i:d4}", Bytes($"{i}")))]);
        var seen = 0;
        await foreach (var entry in store.ScanAsync(StoreRange.All))
        {
            if (seen == 10) await store.DeleteAsync(StoreRange.All);
            Assert.Equal(($"{seen:d4}", $"{seen}"), (entry.Key.ToString(), Text(entry)));
            seen++;
        }

        Assert.Equal(600, seen);
    }

    [Fact]
    public async Task Local_read_sends_no_request_and_may_be_behind()
    {
        var store = await _world.OpenAsync();
        var other = await _world.OpenAsync();
        await store.PutAsync("a", Bytes("1"));
        Assert.Null(await other.GetAsync("a", ReadAs.Local));
        Assert.Equal("1", Text(await other.GetAsync("a")));
        Assert.Equal("1", Text(await other.GetAsync("a", ReadAs.Local)));
    }

    [Fact]
    public async Task Store_is_refused_in_a_transaction_and_after_disposal()
    {
        var process = _world.Start();
        var store = await _world.OpenAsync(process);
        await using (process.Runtime.BeginTx())
            await Assert.ThrowsAsync<TangoTransactionException>(async () => await store.PutAsync("a", Bytes("1")));
        await store.DisposeAsync();
        await Assert.ThrowsAsync<ObjectDisposedException>(async () => await store.GetAsync("a"));
    }
}
