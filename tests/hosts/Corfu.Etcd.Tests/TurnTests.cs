namespace Corfu.Etcd.Tests;

/// <summary>Locks and elections by name.</summary>
public sealed class TurnTests : IAsyncDisposable
{
    private readonly EtcdWorld _world = new();

    public ValueTask DisposeAsync() => _world.DisposeAsync();

    [Fact]
    public async Task Lock_goes_from_holder_to_holder_in_the_order_of_calls()
    {
        var (one, two) = (await _world.StartAsync(), await _world.StartAsync());
        foreach (var id in (long[])[10, 11, 12])
            await one.Leases.LeaseGrantAsync(new LeaseGrantRequest { TTL = 600, ID = id });
        var first = await one.Locks.LockAsync(LockOf(10));
        // The key that a client of etcd makes by itself.
        Assert.Equal("m/a", first.Key.ToStringUtf8());
        Assert.Equal("m/a", (await one.Locks.LockAsync(LockOf(10))).Key.ToStringUtf8());
        var second = two.Locks.LockAsync(LockOf(11)).ResponseAsync;
        await WaitForKeysAsync(one, 2);
        var third = one.Locks.LockAsync(LockOf(12)).ResponseAsync;
        await WaitForKeysAsync(one, 3);
        Assert.False(second.IsCompleted || third.IsCompleted);
        await two.Locks.UnlockAsync(new UnlockRequest { Key = first.Key });
        Assert.Equal("m/b", (await second).Key.ToStringUtf8());
        Assert.False(third.IsCompleted);
        await one.Leases.LeaseRevokeAsync(new LeaseRevokeRequest { ID = 11 });
        Assert.Equal("m/c", (await third).Key.ToStringUtf8());
    }

    [Fact]
    public async Task Caller_that_gives_up_leaves_the_row()
    {
        var client = await _world.StartAsync();
        foreach (var id in (long[])[10, 11])
            await client.Leases.LeaseGrantAsync(new LeaseGrantRequest { TTL = 600, ID = id });
        await client.Locks.LockAsync(LockOf(10));
        using var waiting = client.Locks.LockAsync(LockOf(11));
        await WaitForKeysAsync(client, 2);
        waiting.Dispose();
        await WaitForKeysAsync(client, 1);
        Assert.Equal("m/a=", await client.GetAsync("m/", "m0"));
    }

    [Fact]
    public async Task Lock_with_a_lease_that_has_ended_is_refused()
    {
        var client = await _world.StartAsync();
        Assert.Equal((StatusCode.NotFound, "etcdserver: requested lease not found"),
            await FailureOf(client.Locks.LockAsync(LockOf(99))));
        var own = await client.Locks.LockAsync(LockOf(0));
        Assert.StartsWith("m/", own.Key.ToStringUtf8());
    }

    [Fact]
    public async Task Election_has_one_leader_who_proclaims_and_resigns()
    {
        var (one, two) = (await _world.StartAsync(), await _world.StartAsync());
        foreach (var id in (long[])[10, 11])
            await one.Leases.LeaseGrantAsync(new LeaseGrantRequest { TTL = 600, ID = id });
        Assert.Equal((StatusCode.Unknown, "election: no leader"),
            await FailureOf(one.Elections.LeaderAsync(new LeaderRequest { Name = Bytes("e") })));
        using var observed = two.Elections.Observe(new LeaderRequest { Name = Bytes("e") });
        var first = await one.Elections.CampaignAsync(CampaignOf(10, "one"));
        Assert.Equal("one", await NextAsync());
        var second = two.Elections.CampaignAsync(CampaignOf(11, "two")).ResponseAsync;
        await one.Elections.ProclaimAsync(new ProclaimRequest { Leader = first.Leader, Value = Bytes("still one") });
        Assert.Equal("still one", await NextAsync());
        var leader = await two.Elections.LeaderAsync(new LeaderRequest { Name = Bytes("e") });
        Assert.Equal("e/a=still one", Text(leader.Kv));
        Assert.False(second.IsCompleted);
        await one.Elections.ResignAsync(new ResignRequest { Leader = first.Leader });
        Assert.Equal("e/b", (await second).Leader.Key.ToStringUtf8());
        Assert.Equal("two", await NextAsync());
        Assert.Equal((StatusCode.Unknown, "election: not leader"), await FailureOf(
            one.Elections.ProclaimAsync(new ProclaimRequest { Leader = first.Leader, Value = Bytes("no") })));

        async Task<string> NextAsync()
        {
            Assert.True(await observed.ResponseStream.MoveNext(CancellationToken.None));
            return observed.ResponseStream.Current.Kv.Value.ToStringUtf8();
        }
    }

    [Fact]
    public async Task Observer_hears_each_proclamation_in_order()
    {
        var (one, two) = (await _world.StartAsync(), await _world.StartAsync());
        await one.Leases.LeaseGrantAsync(new LeaseGrantRequest { TTL = 600, ID = 10 });
        var leader = (await one.Elections.CampaignAsync(CampaignOf(10, "0"))).Leader;
        using var observed = two.Elections.Observe(new LeaderRequest { Name = Bytes("e") });
        Assert.True(await observed.ResponseStream.MoveNext(CancellationToken.None));
        var told = new List<string> { Text(observed.ResponseStream.Current.Kv) };
        for (var i = 1; i <= 50; i++)
            await one.Elections.ProclaimAsync(new ProclaimRequest { Leader = leader, Value = Bytes($"{i}") });
        while (told.Count <= 50)
        {
            Assert.True(await observed.ResponseStream.MoveNext(CancellationToken.None));
            told.Add(Text(observed.ResponseStream.Current.Kv));
        }

        Assert.Equal(Enumerable.Range(0, 51).Select(static i => $"e/a={i}"), told);
    }

    [Fact]
    public async Task Waiter_hears_of_a_front_end_that_stops_and_leaves_the_row()
    {
        var (one, two) = (await _world.StartAsync(), await _world.StartAsync());
        foreach (var id in (long[])[10, 11])
            await one.Leases.LeaseGrantAsync(new LeaseGrantRequest { TTL = 600, ID = id });
        await one.Locks.LockAsync(LockOf(10));
        var waiting = FailureOf(two.Locks.LockAsync(LockOf(11)));
        // At the same front end: the write of the key has its answer by then, and the caller waits.
        await WaitForKeysAsync(two, 2);
        await two.StopAsync();
        Assert.Equal((StatusCode.Unavailable, "etcdserver: server stopped"), await waiting);
        Assert.Equal(1, (await one.Keys.RangeAsync(Range("m/", "m0"))).Count);
    }

    private static LockRequest LockOf(long lease) => new() { Name = Bytes("m"), Lease = lease };

    private static CampaignRequest CampaignOf(long lease, string value) =>
        new() { Name = Bytes("e"), Lease = lease, Value = Bytes(value) };

    private static async Task WaitForKeysAsync(EtcdClient client, int count)
    {
        while ((await client.Keys.RangeAsync(Range("m/", "m0"))).Count != count) await Task.Delay(5);
    }
}
