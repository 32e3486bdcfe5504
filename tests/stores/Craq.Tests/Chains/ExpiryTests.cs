using Craq.Storage;

namespace Craq.Tests.Chains;

/// <summary>Deletions of expired objects (C21).</summary>
public sealed class ExpiryTests
{
    private static readonly CraqNodeOptions s_options = new() { ExpiryInterval = TimeSpan.FromSeconds(5) };

    [Fact]
    public void Expired_object_is_deleted_at_all_members_and_no_other() => TestChain.Run(async chain =>
    {
        var soon = Wall(chain) + 2000;
        await chain.MutateAsync(chain.Mutation(TestChain.Put("short", "v", soon)));
        await chain.MutateAsync(chain.Mutation(TestChain.Put("long", "v", soon + 3_600_000)));
        await chain.PutAsync("ever", "v");
        for (var member = 1; member <= 3; member++) Assert.NotNull(Slot(chain, member, "short"));
        await chain.UntilAsync(() => Enumerable.Range(1, 3).All(member => Slot(chain, member, "short") is null));
        for (var member = 1; member <= 3; member++)
        {
            Assert.NotNull(Slot(chain, member, "long"));
            Assert.NotNull(Slot(chain, member, "ever"));
        }
    }, node: s_options);

    [Fact]
    public void Newer_version_of_an_expired_object_stays() => TestChain.Run(async chain =>
    {
        var soon = Wall(chain) + 1000;
        var old = (await chain.MutateAsync(chain.Mutation(TestChain.Put("x", "old", soon)))).Version;
        var last = await chain.PutAsync("x", "new");
        await chain.DelayAsync(2000);
        Assert.Equal(0, Expire(chain, 1, "x", old));
        await chain.DelayAsync(1000);
        Assert.Equal(last, chain.LastOf(1));
        Assert.Equal("new", await chain.GetAsync(2, "x"));
    });

    // The fast clock is the sweep's: the head's own clock counts.
    [Fact]
    public void Unexpired_object_by_the_clock_of_the_head_stays() => TestChain.Run(async chain =>
    {
        var later = Wall(chain) + 60_000;
        var version = (await chain.MutateAsync(chain.Mutation(TestChain.Put("x", "v", later)))).Version;
        Assert.Equal(0, Expire(chain, 1, "x", version));
        await chain.DelayAsync(1000);
        Assert.Equal("v", await chain.GetAsync(1, "x"));
    });

    [Fact]
    public void Member_behind_the_head_deletes_no_object() => TestChain.Run(async chain =>
    {
        var version = (await chain.MutateAsync(
            chain.Mutation(TestChain.Put("x", "v", Wall(chain) + 100)))).Version;
        await chain.DelayAsync(1000);
        Assert.Null(Expire(chain, 2, "x", version));
        Assert.NotNull(Slot(chain, 2, "x"));
    });

    // A sweep went over the index again and again while a member was away.
    [Fact]
    public void Deletion_that_waits_for_a_member_is_made_once() => TestChain.Run(async chain =>
    {
        var version = (await chain.MutateAsync(
            chain.Mutation(TestChain.Put("x", "v", Wall(chain) + 100)))).Version;
        await chain.DelayAsync(1000);
        chain.Store(3).IsHeld = true;
        Assert.Equal(1, Expire(chain, 1, "x", version));
        Assert.Equal(0, Expire(chain, 1, "x", version));
        await chain.DelayAsync(500);
        Assert.NotNull(Slot(chain, 1, "x"));
        chain.Store(3).GoOn();
        await chain.UntilAsync(() => Slot(chain, 1, "x") is null);
    });

    private static long Wall(TestChain chain) => chain.Time.GetUtcNow().ToUnixTimeMilliseconds();

    private static int? Expire(TestChain chain, int member, ObjectKey key, ObjectVersion version)
    {
        int? deleted = null;
        chain.Node(member).WithChain(
            chain.Id, (core, effects) => deleted = core.Expire([(key, version)], effects));
        return deleted;
    }

    private static ObjectSlot? Slot(TestChain chain, int member, ObjectKey key)
    {
        Assert.True(chain.Store(member).TryFind(chain.Id, key, out var slot));
        return slot;
    }
}
