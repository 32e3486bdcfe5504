namespace Tango.Collections.Tests;

/// <summary>Leases that their process lets go, and that others renew by their numbers.</summary>
public sealed class LetGoTests
{
    private static readonly TimeSpan s_ttl = TimeSpan.FromSeconds(3);
    private static readonly TimeSpan s_third = s_ttl / 3;

    [Fact]
    public void Lock_that_was_let_go_is_held_while_another_process_renews_the_token() =>
        CoordinationWorld.Run(1, async (world, time) =>
        {
            TangoLock mine = await world.NewProcess().OpenAsync<TangoLock>();
            TangoLock other = await world.NewProcess().OpenAsync<TangoLock>();
            HeldLock held = await mine.AcquireAsync(s_ttl);
            await held.LetGoAsync();
            Assert.False(held.IsHeld);
            Task<HeldLock> waiting = mine.AcquireAsync(s_ttl).AsTask();
            for (int i = 0; i < 20; i++)
            {
                Assert.True(await other.RenewAsync(held.FencingToken));
                await Task.Delay(s_third, time);
            }

            Assert.False(waiting.IsCompleted);
            // The one that waits has no lock that could be renewed.
            Assert.False(await other.RenewAsync(held.FencingToken + 1000));
            Assert.True(await other.ReleaseAsync(held.FencingToken));
            Assert.False(await other.ReleaseAsync(held.FencingToken));
            HeldLock next = await waiting;
            Assert.False(await other.RenewAsync(held.FencingToken));
            await next.LetGoAsync();
            await Task.Delay(3 * s_ttl, time);
            Assert.False(await other.RenewAsync(next.FencingToken));
        });

    [Fact]
    public void Object_hosted_for_a_read_stays_until_all_leases_have_ended() =>
        CoordinationWorld.Run(4, async (world, time) =>
        {
            TimeSpan timeToLive = 3 * new TangoOptions().RemoteStay;
            Process dying = world.NewProcess();
            await (await dying.OpenAsync<TangoLock>()).AcquireAsync(timeToLive);
            await dying.DieAsync();
            TangoLock remote = await world.NewProcess().Runtime.OpenRemoteAsync<TangoLock>("object");
            Assert.True((await remote.HolderAsync()).Found);
            await Task.Delay(2 * timeToLive, time);
            TangoLock late = await world.NewProcess().OpenAsync<TangoLock>();
            Assert.False((await late.HolderAsync()).Found);
        });

    [Fact]
    public void Delivery_that_was_let_go_is_renewed_by_item_and_token_or_else_delivered_again() =>
        CoordinationWorld.Run(2, async (world, time) =>
        {
            var queue = await world.NewProcess().OpenAsync<TangoWorkQueue<string>>();
            var other = await world.NewProcess().OpenAsync<TangoWorkQueue<string>>();
            await queue.EnqueueAsync("item");
            Delivery<string> first = await queue.ReceiveAsync(s_ttl);
            await first.LetGoAsync();
            for (int i = 0; i < 20; i++)
            {
                Assert.True(await other.RenewAsync(first.Item, first.Token));
                await Task.Delay(s_third, time);
            }

            Assert.Equal(0, await other.CountAsync());
            await using Delivery<string> second = await other.ReceiveAsync(s_ttl);
            Assert.Equal(2, second.Attempt);
            Assert.False(await queue.RenewAsync(first.Item, first.Token));
            await queue.AbandonAsync(second.Item, second.Token);
            Assert.Equal(1, await other.CountAsync());
        });

    [Fact]
    public void Entries_of_a_lease_that_was_let_go_last_while_the_lease_number_is_renewed() =>
        CoordinationWorld.Run(3, async (world, time) =>
        {
            var mine = await world.NewProcess().OpenAsync<TangoLeasedDictionary<string, int>>();
            var other = await world.NewProcess().OpenAsync<TangoLeasedDictionary<string, int>>();
            TangoLease lease = await mine.GrantAsync(s_ttl);
            await lease.LetGoAsync();
            await other.SetAsync("a", 1, lease.Id);
            for (int i = 0; i < 20; i++)
            {
                Assert.True(await other.RenewAsync(lease.Id));
                await Task.Delay(s_third, time);
            }

            Assert.Equal(1, await mine.CountAsync());
            await other.EndAsync(lease.Id);
            Assert.Equal(0, await mine.CountAsync());
            Assert.False(await other.RenewAsync(lease.Id));
        });
}
