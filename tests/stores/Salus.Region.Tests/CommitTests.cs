using Salus.Region.Tests.Support;

namespace Salus.Region.Tests;

/// <summary>Batches over the regions of a volume: commit, reads, order.</summary>
public sealed class CommitTests
{
    [Theory(Timeout = TestWorld.Timeout)]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public async Task Batches_over_two_regions_commit_and_are_read_at_all_members(int copies)
    {
        await using var world = await TestWorld.StartAsync(copies: copies);
        var driver = world.Driver();
        await driver.MountAsync();
        await driver.CommitAsync((0, 3, 7), (1, 5, 8));
        await driver.CommitAsync((0, 3, 9));
        await driver.CommitAsync((1, 5, 0), (1, 6, 1));
        await driver.CheckAsync();
        Assert.Equal(3, driver.Commit!.Batch.Number);
    }

    [Fact(Timeout = TestWorld.Timeout)]
    public async Task Window_of_batches_commits_under_changing_leaders()
    {
        await using var world = await TestWorld.StartAsync(regions: 3);
        var driver = world.Driver();
        await driver.MountAsync();
        var random = new Random(1);
        for (var round = 0; round < 6; round++)
        {
            var window = Enumerable.Range(0, 16).Select(_ => driver.Make([
                .. Enumerable.Range(0, random.Next(1, 4)).Select(_ => (random.Next(3), random.Next(16)))
                    .Distinct().Select(place => (place.Item1, place.Item2, (byte)random.Next(256))),
            ])).ToArray();
            await Task.WhenAll(window.Select(driver.CommitAsync));
        }

        await driver.CheckAsync();
        Assert.Equal(96, driver.Commit!.Batch.Number);
    }

    [Fact(Timeout = TestWorld.Timeout)]
    public async Task Commit_waits_for_the_batch_before_in_another_region()
    {
        await using var world = await TestWorld.StartAsync();
        var driver = world.Driver();
        await driver.MountAsync();
        var (first, second) = (driver.Make((0, 1, 1)), driver.Make((1, 1, 2)));
        Assert.Equal(SalusStatus.Pending, (await driver.TrySendAsync(second.Parts[1]))!.Status);
        Assert.Null(driver.Commit);
        await Task.WhenAll(driver.CommitAsync(second), driver.CommitAsync(first));
        await driver.CheckAsync();
    }

    // A leader paused for 100 ms behind each answer of the leader before, and where a newer proof had overtaken the
    // answer.
    [Theory(Timeout = TestWorld.Timeout)]
    [InlineData(1, 1)]
    [InlineData(2, 1)]
    [InlineData(3, 3)]
    public async Task Batches_with_changing_leaders_commit_while_the_clock_stands_still(int seed, int copies)
    {
        await using var world = await TestWorld.StartAsync(
            regions: 4, copies: copies, patience: TimeSpan.FromSeconds(50));
        var driver = world.Driver();
        // Time goes on in the mount: members that are not open yet are asked again.
        await driver.MountAsync();
        world.Time.Stop();
        var random = new Random(seed);
        for (var round = 0; round < 100; round++)
        {
            var window = Enumerable.Range(0, 2).Select(_ => driver.Make([
                .. Enumerable.Range(0, random.Next(1, 3)).Select(_ => (random.Next(4), random.Next(16)))
                    .Distinct().Select(place => (place.Item1, place.Item2, (byte)random.Next(256))),
            ])).ToArray();
            await Task.WhenAll(window.Select(driver.CommitAsync));
        }

        await driver.CheckAsync();
        Assert.Equal(200, driver.Commit!.Batch.Number);
    }

    [Fact(Timeout = TestWorld.Timeout)]
    public async Task Batch_that_came_twice_has_one_record_and_one_answer()
    {
        await using var world = await TestWorld.StartAsync();
        var driver = world.Driver();
        await driver.MountAsync();
        var batch = driver.Make((0, 1, 1));
        await Task.WhenAll(driver.CommitAsync(batch), driver.CommitAsync(batch));
        Assert.Equal(Status.Ok, (await driver.TrySendAsync(batch.Parts[0]))!.Status);
        // The opening, and the batch.
        Assert.All(world.Nodes, node => Assert.Equal(2, node.Log.Find(world.Key(0))!.Last.Index));
        await driver.CheckAsync();
    }

    [Fact(Timeout = TestWorld.Timeout)]
    public async Task Batch_behind_a_gap_learns_the_last_batch_of_the_region()
    {
        await using var world = await TestWorld.StartAsync();
        var driver = world.Driver();
        await driver.MountAsync();
        var (first, second) = (driver.Make((0, 1, 1)), driver.Make((0, 1, 2)));
        var answer = await driver.TrySendAsync(second.Parts[0]);
        Assert.Equal(SalusStatus.Gap, answer!.Status);
        Assert.True(answer.Last.IsNone);
        await Task.WhenAll(driver.CommitAsync(second), driver.CommitAsync(first));
        await driver.CheckAsync();
    }

    [Fact(Timeout = TestWorld.Timeout)]
    public async Task Damaged_or_wrong_batch_is_refused_and_leaves_no_trace()
    {
        await using var world = await TestWorld.StartAsync();
        var driver = world.Driver();
        await driver.MountAsync();
        var batch = driver.Make((0, 1, 1));
        var part = batch.Parts[0];
        var payload = part.Payload.ToArray();
        payload[9] ^= 1;
        Assert.Equal(Status.Corrupt, (await driver.TrySendAsync(part with { Payload = payload }))!.Status);
        var other = part with { Writes = [part.Writes[0] with { Block = 2 }] };
        Assert.Equal(SalusStatus.Diverged, (await driver.TrySendAsync(other))!.Status);
        var unsigned = part with { Signature = default };
        Assert.Equal(Status.Corrupt, (await driver.TrySendAsync(unsigned))!.Status);
        await driver.CommitAsync(batch);
        await driver.CheckAsync();
    }

    [Theory(Timeout = TestWorld.Timeout)]
    [InlineData(1)]
    [InlineData(2)]
    public async Task Lost_messages_are_sent_again(int seed)
    {
        await using var world = await TestWorld.StartAsync(regions: 3);
        var driver = world.Driver();
        await driver.MountAsync();
        var random = new Random(seed);
        world.Network.Drops = (_, _) => IsLost();
        world.Network.DropsAnswer = (_, _) => IsLost();
        for (var round = 0; round < 3; round++)
        {
            var window = Enumerable.Range(0, 8).Select(i =>
                driver.Make((round, i, (byte)(i + 1)), ((round + i) % 3, 15, (byte)i))).ToArray();
            await Task.WhenAll(window.Select(driver.CommitAsync));
        }

        await driver.CheckAsync();

        bool IsLost()
        {
            lock (random) return random.Next(10) == 0;
        }
    }
}
