namespace Corfu.Etcd.Tests;

/// <summary>Leases and their keys.</summary>
public sealed class LeaseTests : IAsyncDisposable
{
    private readonly EtcdWorld _world = new();

    public ValueTask DisposeAsync() => _world.DisposeAsync();

    [Fact]
    public async Task Lease_that_is_revoked_at_another_front_end_takes_all_keys_at_one_revision()
    {
        var (one, two) = (await _world.StartAsync(), await _world.StartAsync());
        var granted = await one.Leases.LeaseGrantAsync(new LeaseGrantRequest { TTL = 600 });
        Assert.Equal(600, granted.TTL);
        await one.PutAsync("a", "1", granted.ID);
        await two.PutAsync("b", "2", granted.ID);
        await one.PutAsync("c", "3", granted.ID);
        // Without the lease from now on.
        await one.PutAsync("c", "4");
        var lease = await two.Leases.LeaseTimeToLiveAsync(
            new LeaseTimeToLiveRequest { ID = granted.ID, Keys = true });
        Assert.Equal((600, true), (lease.GrantedTTL, lease.TTL is > 0 and <= 600));
        Assert.Equal(["a", "b"], lease.Keys.Select(static key => key.ToStringUtf8()));
        Assert.Equal([granted.ID],
            (await two.Leases.LeaseLeasesAsync(new LeaseLeasesRequest())).Leases.Select(static one => one.ID));
        var revoked = await two.Leases.LeaseRevokeAsync(new LeaseRevokeRequest { ID = granted.ID });
        Assert.Equal(6, revoked.Header.Revision);
        Assert.Equal("c=4", await one.GetAsync("a", Open));
        Assert.Equal("a=1 b=2 c=4", Text(await one.Keys.RangeAsync(
            new RangeRequest { Key = Bytes("a"), RangeEnd = Bytes(Open), Revision = 5 })));
        Assert.Equal((StatusCode.NotFound, "etcdserver: requested lease not found"),
            await FailureOf(one.Leases.LeaseRevokeAsync(new LeaseRevokeRequest { ID = granted.ID })));
        var gone = await one.Leases.LeaseTimeToLiveAsync(new LeaseTimeToLiveRequest { ID = granted.ID });
        Assert.Equal((granted.ID, -1, 0), (gone.ID, gone.TTL, gone.GrantedTTL));
    }

    [Fact]
    public async Task Keep_alive_answers_each_request_with_the_lease_or_with_no_time()
    {
        var client = await _world.StartAsync();
        await client.Leases.LeaseGrantAsync(new LeaseGrantRequest { TTL = 600, ID = 5 });
        using var call = client.Leases.LeaseKeepAlive();
        var told = new List<(long, long)>();
        foreach (var id in (long[])[5, 6, 5])
        {
            await call.RequestStream.WriteAsync(new LeaseKeepAliveRequest { ID = id });
            Assert.True(await call.ResponseStream.MoveNext(CancellationToken.None));
            told.Add((call.ResponseStream.Current.ID, call.ResponseStream.Current.TTL));
        }

        Assert.Equal([(5, 600), (6, 0), (5, 600)], told);
        await call.RequestStream.CompleteAsync();
        Assert.False(await call.ResponseStream.MoveNext(CancellationToken.None));
    }

    [Fact]
    public async Task Grant_is_bounded_and_an_id_is_granted_once()
    {
        var leases = (await _world.StartAsync()).Leases;
        Assert.Equal(2, (await leases.LeaseGrantAsync(new LeaseGrantRequest { TTL = 1, ID = 5 })).TTL);
        Assert.Equal((StatusCode.FailedPrecondition, "etcdserver: lease already exists"),
            await FailureOf(leases.LeaseGrantAsync(new LeaseGrantRequest { TTL = 600, ID = 5 })));
        Assert.Equal(9_000_000_000, (await leases.LeaseGrantAsync(
            new LeaseGrantRequest { TTL = 9_000_000_000, ID = 6 })).TTL);
        Assert.Equal((StatusCode.OutOfRange, "etcdserver: too large lease TTL"),
            await FailureOf(leases.LeaseGrantAsync(new LeaseGrantRequest { TTL = 9_000_000_001 })));
        Assert.Equal(StatusCode.Unimplemented,
            (await FailureOf(leases.LeaseGrantAsync(new LeaseGrantRequest { TTL = 600, ID = -1 }))).Code);
    }

    [Fact]
    public async Task Silent_lease_ends_together_with_the_keys()
    {
        var client = await _world.StartAsync();
        var lease = await client.Leases.LeaseGrantAsync(new LeaseGrantRequest { TTL = 2 });
        await client.PutAsync("a", "1", lease.ID);
        using var call = client.Watches.Watch();
        await call.RequestStream.WriteAsync(new WatchRequest
        {
            CreateRequest = new WatchCreateRequest { Key = Bytes("a"), StartRevision = 3 },
        });
        Assert.True(await call.ResponseStream.MoveNext(CancellationToken.None));
        Assert.True(await call.ResponseStream.MoveNext(CancellationToken.None));
        Assert.Equal("3:a-", Text(call.ResponseStream.Current));
    }

    [Fact]
    public async Task Ids_that_the_front_end_chooses_leave_small_ones_to_clients()
    {
        var client = await _world.StartAsync();
        var chosen = (await client.Leases.LeaseGrantAsync(new LeaseGrantRequest { TTL = 600 })).ID;
        Assert.True(chosen >= 1L << 62);
        var own = await client.Locks.LockAsync(new LockRequest { Name = Bytes("m") });
        Assert.Equal("m/".Length + 16, own.Key.Length);
        foreach (var id in (long[])[1, 2, 3])
            Assert.Equal(id, (await client.Leases.LeaseGrantAsync(new LeaseGrantRequest { TTL = 600, ID = id })).ID);
    }

    [Fact]
    public async Task Lease_of_a_week_is_granted_renewed_and_told()
    {
        const long Week = 7 * 24 * 60 * 60;
        var client = await _world.StartAsync();
        Assert.Equal(Week, (await client.Leases.LeaseGrantAsync(new LeaseGrantRequest { TTL = Week, ID = 5 })).TTL);
        using var call = client.Leases.LeaseKeepAlive();
        await call.RequestStream.WriteAsync(new LeaseKeepAliveRequest { ID = 5 });
        Assert.True(await call.ResponseStream.MoveNext(CancellationToken.None));
        Assert.Equal(Week, call.ResponseStream.Current.TTL);
        var told = await client.Leases.LeaseTimeToLiveAsync(new LeaseTimeToLiveRequest { ID = 5 });
        Assert.Equal(Week, told.GrantedTTL);
    }
}
