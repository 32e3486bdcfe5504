using Corfu.Protocol;
using Corfu.Storage;
using Craq;
using Craq.Protocol;
using Craq.Storage;
using Xunit;

namespace Corfu.Conformance;

/// <summary>Duties of a node's store, over any ports. Inherited once per implementation.</summary>
public abstract class NodeStoreConformance : IAsyncLifetime
{
    private static readonly ChainId s_chain = TestNode.Chain(1);

    private readonly List<TestNode> _opened = [];

    private protected RecordingFiles Files { get; private set; } = new();

    /// <summary>A store on those files, with the index that this test has kept so far.</summary>
    internal abstract NodeStore Create(RecordingFiles files, NodeStoreOptions options);

    /// <summary>The index and its checkpoints are gone.</summary>
    protected abstract void DropIndex();

    public ValueTask InitializeAsync() => ValueTask.CompletedTask;

    public async ValueTask DisposeAsync()
    {
        foreach (var node in _opened) await node.DisposeAsync();
        Cleanup();
        GC.SuppressFinalize(this);
    }

    protected virtual void Cleanup()
    {
    }

    [Fact]
    public async Task Written_objects_are_found_before_and_after_a_restart()
    {
        var node = await OpenAsync();
        for (var i = 0; i < 200; i++)
            await node.WriteAsync(TestNode.Chain(i % 3), TestNode.Put($"key {i}", i * 7, (uint)i));
        await node.WriteAsync(s_chain, TestNode.Put("a", 5), TestNode.Put("b", 0), TestNode.Delete("key 1"));
        await node.CleanUpAsync();
        await node.CheckAsync();
        await CheckRestartedAsync(node);
    }

    [Fact]
    public async Task Object_that_is_not_clean_is_not_found()
    {
        var node = await OpenAsync();
        await node.WriteAsync(s_chain, TestNode.Put("a", 5));
        await node.Store.WaitDurableAsync();
        Assert.True(node.Store.TryFind(s_chain, "a", out var slot));
        Assert.Null(slot);
    }

    [Fact]
    public async Task Older_version_never_replaces_a_newer_one()
    {
        var node = await OpenAsync();
        var first = await node.WriteAsync(s_chain, TestNode.Put("a", 5));
        await node.CleanUpAsync();
        node.Store.TryFind(s_chain, "a", out var old);
        await node.WriteAsync(s_chain, TestNode.Put("a", 6));
        await node.CleanUpAsync();
        node.Locked(() =>
        {
            node.Store.Set(s_chain, "a", old!.Value);
            node.Store.Remove(s_chain, "a", first, old.Value.Address);
            return true;
        });
        await node.CheckAsync();
    }

    [Fact]
    public async Task Cleared_chain_has_only_later_writes()
    {
        var node = await OpenWithObjectsAsync(50, 10);
        await node.WriteAsync(s_chain);
        await node.WriteAsync(s_chain, TestNode.Put("7", 11));
        await node.CleanUpAsync();
        await node.CheckAsync();
        await CheckRestartedAsync(node);
    }

    [Fact]
    public async Task Forgotten_chain_is_empty_on_return()
    {
        var node = await OpenWithObjectsAsync(50, 10);
        node.Forget(s_chain);
        Assert.Equal(0, node.Store.Size.Objects);
        await node.WriteAsync(s_chain, TestNode.Put("new", 11));
        await node.CleanUpAsync();
        await node.CheckAsync();
        Assert.True(node.Store.TryFind(s_chain, "3", out var slot));
        Assert.Null(slot);
        node = await CheckRestartedAsync(node);
        Assert.True(node.Store.TryFind(s_chain, "3", out slot));
        Assert.Null(slot);
    }

    /// <summary>C22: the segments of a forgotten chain go while other chains write, also where the start between finds
    /// its records and the one that forgets them.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Disk_of_a_forgotten_chain_comes_back(bool isRestarted)
    {
        var gone = TestNode.Chain(2);
        var node = await OpenWithObjectsAsync(20, 100);
        for (var i = 0; i < 250; i++) await node.WriteAsync(gone, TestNode.Put($"{i}", 3000));
        await node.CleanUpAsync();
        Assert.True(node.Store.Size.Log > 10 * TestNode.Small.SegmentSize);
        node.Forget(gone);
        await node.Store.WaitDurableAsync();
        if (isRestarted) node = await ReopenAsync(node);
        Assert.Equal(20, node.Store.Size.Objects);
        await FillAsync(node, () => node.Store.Size.Log < 6 * TestNode.Small.SegmentSize);
        node = await CheckRestartedAsync(node);
        Assert.True(node.Store.TryFind(gone, "3", out var slot));
        Assert.Null(slot);
    }

    [Fact]
    public async Task Listing_goes_on_from_a_hash()
    {
        var node = await OpenAsync();
        for (var i = 0; i < 300; i++) await node.WriteAsync(TestNode.Chain(i % 2), TestNode.Put($"{i}", 3));
        await node.CleanUpAsync();
        var all = await node.Store.ListAsync(s_chain, default).ToListAsync();
        Assert.Equal(150, all.Count);
        Assert.Equal(all[70..], await node.Store.ListAsync(s_chain, all[70].Hash).ToListAsync());
        foreach (var (hash, slot) in all)
            Assert.Equal(hash, ObjectHash.Of(s_chain, (await node.Store.ReadKeyAsync(slot))!.Value));
    }

    [Fact]
    public async Task Record_of_another_key_is_a_fault_and_no_answer()
    {
        var node = await OpenAsync();
        await node.WriteAsync(s_chain, TestNode.Put("a", 5));
        await node.CleanUpAsync();
        node.Store.TryFind(s_chain, "a", out var slot);
        await Assert.ThrowsAsync<StoreFailedException>(async () => await node.Store.ReadAsync(slot!.Value, "b"));
    }

    [Fact]
    public async Task Damaged_value_costs_one_object()
    {
        var node = await OpenWithObjectsAsync(200, 2000);
        await node.Store.CleanAsync();
        node.Store.TryFind(s_chain, "5", out var slot);
        await Damage(node, slot!.Value.Address + slot.Value.RecordLength - 10);
        node = await ReopenAsync(node);
        await node.CleanUpAsync();
        for (var i = 0; i < 200; i++)
        {
            Assert.True(node.Store.TryFind(s_chain, $"{i}", out slot));
            var value = await node.Store.ReadAsync(slot!.Value, $"{i}");
            Assert.Equal(i == 5, value is null);
        }
    }

    [Fact]
    public async Task Damaged_header_stops_the_start()
    {
        var node = await OpenWithObjectsAsync(200, 200);
        await node.Store.CleanAsync();
        node.Store.TryFind(s_chain, "5", out var slot);
        await Damage(node, slot!.Value.Address + 3);
        await Assert.ThrowsAsync<LogDamagedException>(() => ReopenAsync(node));
    }

    [Fact]
    public async Task Missing_beginning_stops_the_start()
    {
        var node = await OpenWithObjectsAsync(200, 1000);
        await node.Store.CleanAsync();
        await node.DisposeAsync();
        Files.Delete(Files.List()[0]);
        await Assert.ThrowsAsync<LogDamagedException>(() => ReopenAsync(node));
    }

    [Fact]
    public async Task Space_comes_back_after_overwriting_and_deleting()
    {
        var node = await OpenAsync();
        for (var round = 0; round < 30; round++)
        {
            for (var i = 0; i < 40; i++)
                await node.WriteAsync(TestNode.Chain(i % 3), TestNode.Put($"{i}", 1500, (uint)round));
            await node.CleanUpAsync();
            await node.Store.CleanAsync();
            Assert.InRange(Files.Used, 0, 16 * TestNode.Small.SegmentSize);
        }

        await node.CheckAsync();
        for (var i = 0; i < 40; i++) await node.WriteAsync(TestNode.Chain(i % 3), TestNode.Delete($"{i}"));
        await node.CleanUpAsync();
        await node.Store.CleanAsync();
        await node.CheckAsync();
        Assert.InRange(node.Store.Size.Log, 0, 4 * TestNode.Small.SegmentSize);
        Assert.Equal((0, 0), (node.Store.Size.Objects, node.Store.Size.Live));
        await CheckRestartedAsync(node);
    }

    [Fact]
    public async Task Dirty_records_and_old_objects_outlive_deleted_segments()
    {
        var node = await OpenAsync();
        await node.WriteAsync(TestNode.Chain(7), TestNode.Put("old", 900));
        await node.WriteAsync(TestNode.Chain(8), TestNode.Put("old", 900), TestNode.Put("gone", 900));
        await node.CleanUpAsync();
        await node.WriteAsync(TestNode.Chain(8), TestNode.Delete("gone"));
        await node.CleanUpAsync();
        await node.WriteAsync(TestNode.Chain(9), TestNode.Put("dirty", 900));
        var dirty = node.Of(TestNode.Chain(9)).Dirty[0];
        for (var i = 0; i < 3000; i++)
        {
            await node.WriteAsync(s_chain, TestNode.Put($"{i % 5}", 300, (uint)i));
            if (i % 50 != 0) continue;
            await node.Store.WaitDurableAsync();
            node.Locked(() =>
            {
                node.Of(s_chain).Advance(node.Of(s_chain).Last);
                return true;
            });
        }

        await node.Store.CleanAsync();
        Assert.NotEqual(dirty, node.Of(TestNode.Chain(9)).Dirty[0]);
        Assert.True(Files.List()[0] > 0);
        node = await ReopenAsync(node);
        Assert.Single(node.Of(TestNode.Chain(9)).Dirty);
        await node.CleanUpAsync();
        await node.CheckAsync();
    }

    [Fact]
    public async Task Copy_of_an_overwritten_object_counts_until_the_mark_of_the_newer_version_is_logged()
    {
        var chain = TestNode.Chain(7);
        var node = await OpenAsync();
        await node.WriteAsync(chain, TestNode.Put("a", 900));
        await node.CleanUpAsync();
        await FillAsync(node, () => node.Store.Size.Log > 5 * TestNode.Small.SegmentSize / 2);
        Assert.Equal(0, Files.List()[0]);
        // In a segment that stays: the copy of the clean version comes behind this one.
        await node.WriteAsync(chain, TestNode.Put("a", 901));
        await FillAsync(node, () => Files.List()[0] > 0);
        node.Locked(() =>
        {
            node.Of(chain).Advance(node.Of(chain).Last);
            return true;
        });
        await FillAsync(node, () => Files.List()[0] > 1);
        node = await ReopenAsync(node);
        Assert.False(node.Store.StartedFromCheckpoint);
        await node.CheckAsync();
    }

    [Fact]
    public async Task Copy_before_the_state_of_a_chain_counts_until_the_mark_of_the_newer_version_is_logged()
    {
        var chain = TestNode.Chain(7);
        var node = await OpenAsync();
        await node.WriteAsync(chain, TestNode.Put("a", 900));
        await node.CleanUpAsync();
        await FillAsync(node, () => node.Store.Size.Log > 3 * TestNode.Small.SegmentSize / 2);
        await node.WriteAsync(chain, TestNode.Put("b", 900));
        await FillAsync(node, () => Files.List()[0] > 0);
        Advance();
        // The chain's state goes on with this record, and the copy stays before it.
        await FillAsync(node, () => Files.List()[0] > 1);
        var copy = SegmentOf("a");
        Assert.True(copy < SegmentOf("b"));
        await node.WriteAsync(chain, TestNode.Put("a", 901));
        await node.Store.WaitDurableAsync();
        Advance();
        await FillAsync(node, () => Files.List()[0] > copy);
        node = await ReopenAsync(node);
        Assert.False(node.Store.StartedFromCheckpoint);
        await node.CheckAsync();

        void Advance() => node.Locked(() =>
        {
            node.Of(chain).Advance(node.Of(chain).Last);
            return true;
        });

        long SegmentOf(string key)
        {
            Assert.True(node.Store.TryFind(chain, key, out var slot));
            return slot!.Value.Address / TestNode.Small.SegmentSize;
        }
    }

    [Fact]
    public async Task Record_of_more_than_half_a_segment_gets_space()
    {
        var options = TestNode.Small with { SegmentSize = TestNode.Small.LogPageSize };
        await using var node = await TestNode.OpenAsync(Create(Files, options));
        for (var round = 0; round < 10; round++)
        {
            await node.WriteAsync(s_chain, TestNode.Put("small", 6500, (uint)round));
            await node.Store.WaitDurableAsync();
            // On a page of its own.
            await node.WriteAsync(s_chain, TestNode.Put("large", 10_000, (uint)round));
            await node.CleanUpAsync();
        }

        await node.CheckAsync();
    }

    [Fact]
    public async Task Expired_objects_are_found_in_the_newest_versions_and_after_a_start()
    {
        var chain = TestNode.Chain(3);
        var node = await OpenAsync();
        Assert.Empty(await node.Store.FindExpiredAsync(long.MaxValue, 100));
        // A put's expiry is ten times its flags.
        var soon = await node.WriteAsync(chain, TestNode.Put("soon", 10, flags: 5));
        await node.WriteAsync(chain, TestNode.Put("late", 10, flags: 500));
        await node.WriteAsync(chain, TestNode.Put("again", 10, flags: 5));
        await node.WriteAsync(chain, TestNode.Put("again", 10));
        await node.WriteAsync(chain, TestNode.Put("gone", 10, flags: 5));
        await node.WriteAsync(chain, TestNode.Delete("gone"));
        for (var run = 0; run < 2; run++)
        {
            await node.CleanUpAsync();
            var (found, slot) = Assert.Single(await node.Store.FindExpiredAsync(1000, 100));
            Assert.Equal((chain, soon), (found, slot.Version));
            Assert.Equal(2, (await node.Store.FindExpiredAsync(5000, 100)).Count);
            Assert.Single(await node.Store.FindExpiredAsync(5000, 1));
            node = await ReopenAsync(node);
        }
    }

    [Fact]
    public async Task Full_disk_refuses_writes_then_deletes_and_never_vital_records()
    {
        var node = await OpenAsync();
        Files.Capacity = 12 * TestNode.Small.SegmentSize;
        for (var i = 0; ; i++)
        {
            try
            {
                await node.WriteAsync(s_chain, TestNode.Put($"{i}", 3000));
                if (i % 5 == 0) await node.CleanUpAsync();
            }
            catch (CorfuException)
            {
                break;
            }
        }

        Assert.Equal(Status.NoSpace, node.Store.Admit(3000, StoreUse.Writes));
        Assert.Equal(Status.Ok, node.Store.Admit(300, StoreUse.Deletes));
        Assert.Equal(Status.Ok, node.Store.Admit(300, StoreUse.Vital));
        await node.CleanUpAsync();
        for (var i = 0; i < 100; i++) await node.WriteAsync(s_chain, TestNode.Delete($"{i}"));
        await node.CleanUpAsync();
        Files.Capacity = long.MaxValue;
        await node.CheckAsync();
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    [InlineData(4)]
    [InlineData(5)]
    [InlineData(6)]
    public async Task Any_history_with_restarts_gives_the_objects_of_the_records(int seed)
    {
        var random = new Random(seed);
        var node = await OpenAsync();
        for (var run = 0; run < 5; run++)
        {
            await NodeHistory.RunAsync(node, random, 800);
            await node.DisposeAsync();
            if (random.Next(3) == 0) DropIndex();
            node = await ReopenAsync(node);
            if (random.Next(2) == 0) await node.CleanUpAsync();
            await node.CheckAsync();
        }

        Assert.Null(node.Failure);
    }

    [Fact]
    public async Task Start_from_a_checkpoint_reads_the_later_records()
    {
        var node = await OpenAsync();
        for (var i = 0; i < 1500; i++)
        {
            await node.WriteAsync(TestNode.Chain(i % 3), TestNode.Put($"{i}", 30));
            if (i % 20 == 0) await node.CleanUpAsync();
        }

        await node.WriteAsync(TestNode.Chain(5), TestNode.Put("dirty", 30));
        await node.Store.CleanAsync();
        Assert.True(node.Store.Checkpoints > 0);
        node = await ReopenAsync(node);
        Assert.True(node.Store.StartedFromCheckpoint);
        Assert.InRange(node.Store.RecordsRead, 0, 1400);
        Assert.Single(node.Of(TestNode.Chain(5)).Dirty);
        await node.CleanUpAsync();
        await node.CheckAsync();
    }

    private protected async Task<TestNode> OpenAsync(TestNode? before = null)
    {
        var store = Create(Files, TestNode.Small);
        try
        {
            var node = await TestNode.OpenAsync(store, before);
            _opened.Add(node);
            return node;
        }
        catch
        {
            await store.DisposeAsync();
            throw;
        }
    }

    private protected async Task<TestNode> ReopenAsync(TestNode before)
    {
        await before.DisposeAsync();
        return await OpenAsync(before);
    }

    /// <summary>Overwrites 20 objects until then, and lets the cleaner work.</summary>
    private static async Task FillAsync(TestNode node, Func<bool> until)
    {
        for (var i = 0; !until(); i++)
        {
            await node.WriteAsync(s_chain, TestNode.Put($"{i % 20}", 3000, (uint)i));
            await node.Store.WaitDurableAsync();
            node.Locked(() =>
            {
                node.Of(s_chain).Advance(node.Of(s_chain).Last);
                return true;
            });
            await node.Store.CleanAsync();
        }
    }

    /// <summary>Clean objects of one size, with the numbers from 0 as keys.</summary>
    private async Task<TestNode> OpenWithObjectsAsync(int count, int size)
    {
        var node = await OpenAsync();
        for (var i = 0; i < count; i++) await node.WriteAsync(s_chain, TestNode.Put($"{i}", size));
        await node.CleanUpAsync();
        return node;
    }

    /// <summary>After a restart the objects are those of the history too.</summary>
    private async Task<TestNode> CheckRestartedAsync(TestNode before)
    {
        var node = await ReopenAsync(before);
        await node.CleanUpAsync();
        await node.CheckAsync();
        return node;
    }

    private async Task Damage(TestNode node, long address)
    {
        await node.DisposeAsync();
        DropIndex();
        Files.Damage((int)(address / TestNode.Small.SegmentSize), address % TestNode.Small.SegmentSize,
            b => (byte)(b ^ 0x40));
    }
}
