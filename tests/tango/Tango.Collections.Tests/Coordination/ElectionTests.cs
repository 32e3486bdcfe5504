namespace Tango.Collections.Tests;

public sealed class ElectionTests
{
    private static readonly TimeSpan s_ttl = TimeSpan.FromSeconds(3);

    [Fact]
    public void Observers_see_who_leads_and_who_follows_one_that_dies() =>
        CoordinationWorld.Run(1, async (world, _) =>
        {
            Process first = world.NewProcess();
            Process second = world.NewProcess();
            var mine = new TangoElection(await first.OpenAsync<TangoLock>());
            var other = new TangoElection(await second.OpenAsync<TangoLock>());
            var observer = new TangoElection(await world.NewProcess().OpenAsync<TangoLock>());
            await using var leaders = observer.LeadersAsync(TestContext.Current.CancellationToken)
                .GetAsyncEnumerator(TestContext.Current.CancellationToken);
            Assert.True(await leaders.MoveNextAsync());
            Assert.False(leaders.Current.Found);

            HeldLock led = await mine.CampaignAsync("host 1", s_ttl);
            Task<HeldLock> campaign = other.CampaignAsync("host 2", s_ttl).AsTask();
            Assert.True(await leaders.MoveNextAsync());
            Assert.Equal(new LockHolder(led.FencingToken, "host 1"), leaders.Current.Value);
            Assert.Equal(leaders.Current, await other.LeaderAsync());

            await first.DieAsync();
            HeldLock leads = await campaign;
            Assert.True(await leaders.MoveNextAsync());
            Assert.Equal(new LockHolder(leads.FencingToken, "host 2"), leaders.Current.Value);
            await other.Lock.RequireHeldAsync(leads.FencingToken);
            await leads.DisposeAsync();
            Assert.True(await leaders.MoveNextAsync());
            Assert.False(leaders.Current.Found);
        });
}
