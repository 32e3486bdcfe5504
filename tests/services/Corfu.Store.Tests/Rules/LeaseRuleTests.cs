using Corfu.Store.Index;
using Corfu.Store.Tests.Support;
using static Corfu.Store.Tests.Support.StoreWorld;

namespace Corfu.Store.Tests.Rules;

/// <summary>Rule K15: leases end by the log alone.</summary>
public sealed class LeaseRuleTests : IAsyncDisposable
{
    private static readonly TimeSpan s_minute = TimeSpan.FromMinutes(1);

    private readonly StoreWorld _world = new();

    public ValueTask DisposeAsync() => _world.DisposeAsync();

    [Fact]
    public async Task K15_keys_of_a_lease_go_in_one_revision()
    {
        var store = await _world.OpenAsync();
        var lease = await store.GrantLeaseAsync(s_minute, id: 77);
        Assert.Equal(77, lease);
        await store.PutAsync("a", Bytes("1"), lease);
        await store.PutAsync("b", Bytes("2"), lease);
        await store.PutAsync("c", Bytes("3"), lease);
        await store.PutAsync("b", Bytes("4"));
        Assert.Equal(["a", "c"], (await store.FindLeaseAsync(lease))!.Keys.Select(static key => key.ToString()));
        Assert.Equal(6, await store.EndLeaseAsync(lease));
        Assert.Equal("6:a-,c-", Text(await TakeAsync(store.WatchAsync(StoreRange.All, 6), 1)));
        Assert.Equal("b=4", Text(await store.RangeAsync(StoreRange.All)));
        await Assert.ThrowsAsync<StoreLeaseNotFoundException>(async () => await store.EndLeaseAsync(lease));
        await Assert.ThrowsAsync<StoreLeaseNotFoundException>(async () => await store.RenewLeaseAsync(lease));
    }

    [Fact]
    public async Task K15_put_with_a_lease_that_has_ended_is_refused()
    {
        var store = await _world.OpenAsync();
        var lease = await store.GrantLeaseAsync(s_minute);
        await store.EndLeaseAsync(lease);
        var refusal = await Assert.ThrowsAsync<StoreLeaseNotFoundException>(
            async () => await store.PutAsync("a", Bytes("1"), lease));
        Assert.Equal(lease, refusal.Lease);
        Assert.Null(await store.GetAsync("a"));
    }

    [Fact]
    public async Task K15_expiry_of_a_lease_that_was_renewed_since_has_no_effect()
    {
        var process = _world.Start();
        var store = await _world.OpenAsync(process);
        var lease = await store.GrantLeaseAsync(s_minute);
        await store.PutAsync("a", Bytes("1"), lease);
        var index = await process.Runtime.OpenAsync<StoreIndex>("store");
        var seen = (await index.ReadAsync(CancellationToken.None)).Leases[lease].Version;
        Assert.Equal(s_minute, await store.RenewLeaseAsync(lease));
        await ((ITangoLeased)index).ExpireAsync(lease, seen, CancellationToken.None);
        Assert.Equal("1", Text(await store.GetAsync("a")));
        seen = (await index.ReadAsync(CancellationToken.None)).Leases[lease].Version;
        await ((ITangoLeased)index).ExpireAsync(lease, seen, CancellationToken.None);
        Assert.Null(await store.GetAsync("a"));
    }

    [Fact]
    public async Task Lease_that_no_process_renews_ends_and_one_that_is_kept_goes_on()
    {
        var store = await _world.OpenAsync();
        var other = await _world.OpenAsync();
        var second = TimeSpan.FromSeconds(1);
        await store.PutAsync("silent", Bytes("1"), await store.GrantLeaseAsync(second));
        var kept = await store.KeepLeaseAsync(second);
        await store.PutAsync("kept", Bytes("2"), kept.Id);
        var ended = TakeAsync(other.WatchAsync(StoreRange.All), 1);
        await _world.Host.Time.AdvanceUntilAsync(ended, second / 20);
        Assert.Equal("4:silent-", Text(await ended));
        Assert.Equal("kept=2", Text(await other.RangeAsync(StoreRange.All)));
        await kept.DisposeAsync();
        Assert.Empty((await other.RangeAsync(StoreRange.All)).Entries);
    }

    [Fact]
    public async Task Lease_tells_the_time_that_remains()
    {
        var store = await _world.OpenAsync();
        var lease = await store.GrantLeaseAsync(s_minute);
        _world.Host.Time.Advance(TimeSpan.FromSeconds(20));
        var found = (await store.FindLeaseAsync(lease))!;
        Assert.Equal((s_minute, TimeSpan.FromSeconds(40)), (found.TimeToLive, found.Remaining));
        await store.RenewLeaseAsync(lease);
        Assert.Equal(s_minute, (await store.ListLeasesAsync())[0].Remaining);
        Assert.Null(await store.FindLeaseAsync(lease + 1));
        await Assert.ThrowsAsync<StoreLeaseExistsException>(async () => await store.GrantLeaseAsync(s_minute, lease));
        await Assert.ThrowsAsync<ArgumentOutOfRangeException>(
            async () => await store.GrantLeaseAsync(TimeSpan.FromSeconds(9_000_000_001)));
        var longest = TimeSpan.FromSeconds(9_000_000_000);
        lease = await store.GrantLeaseAsync(longest);
        Assert.Equal(longest, await store.RenewLeaseAsync(lease));
        Assert.Equal(longest, (await store.FindLeaseAsync(lease))!.Remaining);
    }
}
