using Map = Tango.Collections.TangoLeasedDictionary<string, int>;

namespace Tango.Collections.Tests;

public sealed class LeasedDictionaryTests
{
    private static readonly TimeSpan s_ttl = TimeSpan.FromSeconds(3);

    [Fact]
    public void Leased_entries_exist_while_the_owner_lives() => CoordinationWorld.Run(1, async (world, time) =>
    {
        Process dying = world.NewProcess();
        Map mine = await dying.OpenAsync<Map>();
        Map other = await world.NewProcess().OpenAsync<Map>();
        await using TangoLease lease = await mine.GrantAsync(s_ttl);
        await mine.SetAsync("a", 1, lease);
        await mine.SetAsync("b", 2, lease);
        await using TangoLease otherLease = await other.GrantAsync(s_ttl);
        await other.SetAsync("c", 3, otherLease);
        // An entry has the lease that it was set with last.
        await other.SetAsync("b", 4, otherLease);
        await Task.Delay(10 * s_ttl, time);
        Assert.Equal(3, await other.CountAsync());

        await dying.DieAsync();
        await other.WaitForAsync((m, t) => m.TryGetAsync("a", t), static found => !found.Found);
        Assert.Equal([new("b", 4), new("c", 3)], (await other.SnapshotAsync()).OrderBy(p => p.Key));
        Assert.True(await other.RemoveAsync("b"));
        Assert.False(await other.RemoveAsync("b"));
        await otherLease.DisposeAsync();
        Assert.Equal(0, await other.CountAsync());
        await Assert.ThrowsAsync<TangoRejectedException>(() => other.SetAsync("d", 5, otherLease).AsTask());
    });

    [Fact]
    public void Entry_with_a_time_to_live_ends_unless_set_again() =>
        CoordinationWorld.Run(2, async (world, time) =>
        {
            Map map = await world.NewProcess().OpenAsync<Map>();
            for (var i = 0; i < 5; i++)
            {
                await map.SetAsync("kept", i, s_ttl);
                if (i == 0) await map.SetAsync("left", i, s_ttl);
                await Task.Delay(s_ttl / 2, time);
            }

            Assert.Equal([new("kept", 4)], await map.SnapshotAsync());
            await Task.Delay(2 * s_ttl, time);
            Assert.Equal(0, await map.CountAsync());
            await using TangoLease lease = await map.GrantAsync(s_ttl);
            await map.SetAsync("kept", 5, s_ttl);
            await map.SetAsync("kept", 6, lease);
            await Task.Delay(3 * s_ttl, time);
            Assert.Equal(Lookup.Of(6), await map.TryGetAsync("kept"));
        });

    [Fact]
    public void Transaction_that_read_a_leased_entry_aborts_at_the_end_of_the_lease_not_at_a_renewal() =>
        CoordinationWorld.Run(3, async (world, time) =>
        {
            Process process = world.NewProcess();
            Map map = await process.OpenAsync<Map>("map");
            var found = await process.OpenAsync<TangoRegister<string>>("found");
            await using TangoLease lease = await map.GrantAsync(s_ttl);
            await map.SetAsync("a", 1, lease);
            Assert.IsType<TxOutcome.Committed>(await ReadAsync(() => Task.Delay(5 * s_ttl, time)));
            Assert.IsType<TxOutcome.Aborted>(await ReadAsync(() => lease.DisposeAsync().AsTask()));

            async Task<TxOutcome> ReadAsync(Func<Task> meanwhile)
            {
                await using TangoTransaction tx = process.Runtime.BeginTx(new TransactionOptions { Explicit = true });
                Assert.True((await tx.Use(map).TryGetAsync("a")).Found);
                await meanwhile();
                await tx.Use(found).WriteAsync("it was there");
                return await tx.EndTxAsync();
            }
        });

    [Fact]
    public void A_lease_of_another_object_is_refused() => CoordinationWorld.Run(4, async (world, _) =>
    {
        Process process = world.NewProcess();
        Map a = await process.OpenAsync<Map>("a");
        Map b = await process.OpenAsync<Map>("b");
        await using TangoLease ofA = await a.GrantAsync(s_ttl);
        // The same number.
        await using TangoLease ofB = await b.GrantAsync(s_ttl);
        Assert.Equal(ofA.Id, ofB.Id);
        await Assert.ThrowsAsync<ArgumentException>(() => b.SetAsync("x", 1, ofA).AsTask());
        Assert.Equal(0, await b.CountAsync());
        // Another handle, of another process, is of the same object.
        await (await world.NewProcess().OpenAsync<Map>("a")).SetAsync("x", 1, ofA);
        Assert.Equal("a", ofA.ObjectName);
    });

    [Fact]
    public void A_lease_of_an_object_whose_name_returned_is_refused() => CoordinationWorld.Run(5, async (world, _) =>
    {
        Process process = world.NewProcess();
        await using TangoLease old = await (await process.OpenAsync<Map>("a")).GrantAsync(s_ttl);
        await process.Runtime.Directory.DeleteAsync("a");
        Map anew = await process.OpenAsync<Map>("a");
        await using TangoLease own = await anew.GrantAsync(s_ttl);
        Assert.Equal(old.Id, own.Id);
        await Assert.ThrowsAsync<ArgumentException>(() => anew.SetAsync("x", 1, old).AsTask());
    });

    /// <summary>Within the transaction the snapshot is older than the lease: the refusal is out of date.</summary>
    [Fact]
    public void Transaction_refused_a_lease_that_was_granted_since_aborts() =>
        CoordinationWorld.Run(6, async (world, _) =>
        {
            Process process = world.NewProcess();
            Map map = await process.OpenAsync<Map>("map");
            var other = await process.OpenAsync<TangoRegister<string>>("other");
            Process behind = world.NewProcess();
            Map late = await behind.OpenAsync<Map>("map");
            var written = await behind.OpenAsync<TangoRegister<string>>("other");
            await using TangoLease lease = await map.GrantAsync(s_ttl);
            await using TangoTransaction tx = behind.Runtime.BeginTx(new TransactionOptions { Explicit = true });
            await Assert.ThrowsAsync<TangoRejectedException>(
                () => tx.Use(late).SetAsync("x", 1, lease).AsTask());
            await tx.Use(written).WriteAsync("there is no such lease");
            Assert.IsType<TxOutcome.Aborted>(await tx.EndTxAsync());
            Assert.Null(await other.ReadAsync());
        });

    [Fact]
    public void Leased_dictionary_is_restored_from_a_checkpoint()
    {
        var view = new View<Map>();
        long lease = view.Apply<long>(4, Bytes.Key(default(LeaseGrants)), Bytes.Arguments(1000L));
        view.Apply(2, Bytes.Key("a"), Bytes.Arguments(1, lease));
        view.Apply(3, Bytes.Key("b"), Bytes.Arguments(2, 1000L));
        Assert.True(view.Apply<bool>(5, Bytes.Key(new LeaseRenewal(lease)), Bytes.NoArguments));
        view.Reload();
        // The version that the lease had before.
        view.Apply(7, Bytes.NoKey, Bytes.Arguments(lease, lease));
        Assert.Equal(2, view.Read<int>("ReadCount"));
        view.Apply(7, Bytes.NoKey, Bytes.Arguments(lease + 1, lease + 1));
        Assert.False(view.Read<Lookup<int>>("ReadTryGet", "b").Found);
        view.Apply(6, Bytes.NoKey, Bytes.Arguments(lease));
        Assert.Equal(0, view.Read<int>("ReadCount"));
        view.Reload();
    }
}
