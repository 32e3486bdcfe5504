using Corfu.Protocol;
using Corfu.Storage;
using Corfu.Unit;
using Xunit;

namespace Corfu.Conformance;

/// <summary>Expectations of the page store of its address map and the maps' store. Inherited once per
/// implementation.</summary>
public abstract class AddressMapConformance
{
    private const int Many = 30_000;

    /// <summary>Over what this test has kept so far.</summary>
    internal abstract IAddressMaps<long, PageEntry> Maps();

    [Fact]
    public void Slot_set_last_is_found()
    {
        using var map = Open(null);
        Assert.Equal(default, map.Find(3));
        for (var i = 0; i < Many; i++) map.Set(Position(i), Slot(i));
        for (var i = 0; i < Many; i += 3) map.Set(Position(i), Slot(i + 7));
        for (var i = 0; i < Many; i++) Assert.Equal(Slot(i % 3 == 0 ? i + 7 : i), map.Find(Position(i)));
        Assert.Equal(default, map.Find(1));
    }

    [Fact]
    public void Forgetting_drops_only_slots_entered_before()
    {
        using var map = Open(null);
        for (var i = 0; i < Many; i++) map.Set(Position(i), Slot(i));
        var place = map.Tail;
        for (var i = Many / 2; i < Many; i++)
        {
            var before = map.Tail;
            map.Set(Position(i), Slot(i + 1));
            Assert.True(map.Tail > before);
        }

        map.Forget(place);
        for (var i = Many / 2; i < Many; i++) Assert.Equal(Slot(i + 1), map.Find(Position(i)));
    }

    [Fact]
    public async Task Checkpoint_holds_the_slots_entered_before_the_begin()
    {
        Guid token;
        using (var map = Open(null))
        {
            for (var i = 0; i < 5000; i++) map.Set(Position(i), Slot(i));
            token = map.BeginCheckpoint();
            for (var i = 5000; i < 5100; i++) map.Set(Position(i), Slot(i));
            await map.EndCheckpointAsync(token);
            for (var i = 0; i < 100; i++) map.Set(Position(i), Slot(i + 9));
            for (var i = 0; i < 5100; i++) Assert.Equal(Slot(i < 100 ? i + 9 : i), map.Find(Position(i)));
        }

        using (var map = Open(token))
        {
            for (var i = 100; i < 5000; i++) Assert.Equal(Slot(i), map.Find(Position(i)));
            for (var i = 5000; i < 5100; i++)
                Assert.True(map.Find(Position(i)) == Slot(i) || map.Find(Position(i)) == default);
            // The map goes on from there, and can be checkpointed again.
            map.Set(Position(50), Slot(51));
            var next = map.BeginCheckpoint();
            await map.EndCheckpointAsync(next);
            Assert.NotEqual(token, next);
            token = next;
        }

        using (var map = Open(token)) Assert.Equal(Slot(51), map.Find(Position(50)));
    }

    [Fact]
    public async Task A_checkpoint_whose_beginning_was_forgotten_has_the_rest()
    {
        Guid token;
        using (var map = Open(null))
        {
            for (var i = 0; i < Many; i++) map.Set(Position(i), Slot(i));
            var place = map.Tail;
            for (var i = Many / 2; i < Many; i++) map.Set(Position(i), Slot(i + 1));
            token = map.BeginCheckpoint();
            await map.EndCheckpointAsync(token);
            map.Forget(place);
        }

        using (var map = Open(token))
        {
            for (var i = Many / 2; i < Many; i++) Assert.Equal(Slot(i + 1), map.Find(Position(i)));
        }
    }

    [Fact]
    public async Task Slots_replaced_beside_checkpoints_are_found_after_each_of_many_starts()
    {
        const int Keys = 3000;
        Guid? token = null;
        var newest = new int[Keys];
        var random = new Random(7);
        for (var run = 1; run <= 8; run++)
        {
            using var map = Open(token);
            for (var i = 0; i < Keys; i++)
                Assert.True(newest[i] == 0 || map.Find(Position(i)) == Slot(newest[i]), $"Slot {i} of run {run}.");
            Enter(map, Keys * 2);
            token = map.BeginCheckpoint();
            var end = Task.Run(() => map.EndCheckpointAsync(token.Value).AsTask());
            // Entries made beside the checkpoint may be in it, and are made again as they would be from the log.
            var later = Enter(map, 2000);
            await end;
            var listed = new Dictionary<long, PageEntry>();
            await map.ScanAsync(0, map.Tail, (key, slot) => listed[key] = slot);
            for (var i = 0; i < Keys; i++) Assert.Equal(Slot(newest[i]), listed[Position(i)]);
            map.Dispose();
            using var again = Open(token);
            foreach (var i in later) again.Set(Position(i), Slot(newest[i]));
            for (var i = 0; i < Keys; i++) Assert.Equal(Slot(newest[i]), again.Find(Position(i)));
            token = again.BeginCheckpoint();
            await again.EndCheckpointAsync(token.Value);
        }

        HashSet<int> Enter(IAddressMap<long, PageEntry> map, int count)
        {
            var entered = new HashSet<int>();
            for (var i = 0; i < Keys && newest[i] == 0; i++) Replace(i);
            for (var n = 0; n < count; n++) Replace(random.Next(Keys));
            return entered;

            void Replace(int i)
            {
                newest[i] = 1 + random.Next(1_000_000);
                map.Set(Position(i), Slot(newest[i]));
                entered.Add(i);
            }
        }
    }

    [Fact]
    public void A_checkpoint_that_is_not_there_cannot_be_used_and_an_empty_map_can()
    {
        Assert.Throws<StoreFailedException>(() => Open(new Guid("12345678-0000-0000-0000-000000000001")));
        using var map = Open(null);
        Assert.Equal(default, map.Find(Position(1)));
        map.Set(Position(1), Slot(1));
        Assert.Equal(Slot(1), map.Find(Position(1)));
    }

    [Fact]
    public async Task Purged_checkpoints_are_gone_and_all_other_checkpoints_stay()
    {
        Guid first, second;
        using (var map = Open(null))
        {
            map.Set(Position(1), Slot(1));
            first = map.BeginCheckpoint();
            await map.EndCheckpointAsync(first);
            map.Set(Position(2), Slot(2));
            second = map.BeginCheckpoint();
            await map.EndCheckpointAsync(second);
            Kept().Purge([second]);
        }

        Assert.Throws<StoreFailedException>(() => Open(first));
        using (var map = Open(second)) Assert.Equal(Slot(2), map.Find(Position(2)));
    }

    [Fact]
    public async Task Documents_are_kept_until_deleted()
    {
        using var map = Open(null);
        var maps = Kept();
        Assert.Empty(maps.List());
        await maps.PublishAsync(4, new byte[] { 4, 4 });
        await maps.PublishAsync(12, new byte[] { 12 });
        await maps.PublishAsync(4, new byte[] { 5 });
        Assert.Equal([4L, 12L], Kept().List().Order());
        Assert.Equal([5], Kept().Read(4));
        maps.Delete([4]);
        Assert.Equal([12L], Kept().List());
    }

    private IAddressMaps<long, PageEntry> Kept() => Maps();

    private IAddressMap<long, PageEntry> Open(Guid? checkpoint) =>
        Kept().Open(checkpoint, error => Assert.Fail(error.Message));

    // All bits vary: FASTER clears some of a word that it takes for a record's header.
    private static long Position(int i) => unchecked((long)((ulong)(i + 1) * 0x9E3779B97F4A7C15UL));

    private static PageEntry Slot(int i) => new(new PageSlot(
        (PageState)(1 + (i % 4)), i * 1000L, i, i % 977,
        new EntryOrigin(new WriterId(new Guid(i, 0, 0, new byte[8])), -i), i * 3L));
}
