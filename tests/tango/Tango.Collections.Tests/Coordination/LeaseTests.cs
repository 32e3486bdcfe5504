namespace Tango.Collections.Tests;

/// <summary>Tests of what an owner may believe of its lease, and of the rest of a lease when user code
/// fails.</summary>
public sealed partial class LeaseTests
{
    [Fact]
    public void Owner_counts_whole_milliseconds_of_a_time_to_live_as_the_record_does() =>
        CoordinationWorld.Run(1, async (world, _) =>
        {
            var leased = await world.NewProcess().OpenAsync<BrokenLeases>();
            await using TangoLease lease = (await leased.GrantAsync(TimeSpan.FromMilliseconds(10.9)))!;
            Assert.Equal(TimeSpan.FromMilliseconds(10), lease.TimeToLive);
        });

    [Fact]
    public void A_callback_that_fails_does_not_keep_the_lock() => CoordinationWorld.Run(2, async (world, _) =>
    {
        TangoLock mine = await world.NewProcess().OpenAsync<TangoLock>();
        TangoLock other = await world.NewProcess().OpenAsync<TangoLock>();
        HeldLock held = await mine.AcquireAsync(TimeSpan.FromHours(1));
        held.Lost.Register(static () => throw new InvalidOperationException("of the user"));
        await Assert.ThrowsAsync<AggregateException>(() => held.DisposeAsync().AsTask());
        Assert.NotNull(await other.TryAcquireAsync(TimeSpan.FromHours(1)));
    });

    /// <summary>All objects of a runtime are played by the same cycles.</summary>
    [Fact]
    public void Object_that_fails_to_list_leases_stops_no_other_object() => CoordinationWorld.Run(3, async (world, _) =>
    {
        Process process = world.NewProcess();
        var broken = await process.OpenAsync<BrokenLeases>("broken");
        var register = await process.OpenAsync<TangoRegister<string>>("register");
        await broken.TouchAsync();
        await register.WriteAsync("x");
        Assert.Equal("x", await register.ReadAsync());
    });

    [TangoObject("test-broken-leases")]
    internal sealed partial class BrokenLeases : TangoObject, ITangoLeased
    {
        private long _touched;

        IEnumerable<LeaseInfo> ITangoLeased.Leases => throw new InvalidOperationException($"{_touched}");

        ValueTask ITangoLeased.ExpireAsync(long lease, long version, CancellationToken cancellationToken) => default;

        public ValueTask<TangoLease?> GrantAsync(TimeSpan timeToLive) => GrantLeaseAsync(
            timeToLive, static _ => new((long?)1), static (_, _) => new(true), static (_, _) => default, default);

        [Mutator(1)]
        public partial ValueTask TouchAsync(CancellationToken cancellationToken = default);

        private void ApplyTouch() => _touched++;
    }
}
