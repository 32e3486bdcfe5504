using Xunit;

namespace Corfu.Storage.Tests;

public sealed class FasterAddressMapTests : IDisposable
{
    private static readonly AddressMapSizes s_sizes = new(4096, 1 << 20);

    private readonly TempFolder _folder = new();

    public void Dispose() => _folder.Dispose();

    // The slots of page 0 were lost: the beginning lay in a part of the page that no flush had written.
    [Fact]
    public async Task Checkpoint_behind_a_beginning_in_unwritten_memory_has_all_later_slots()
    {
        Guid token;
        using (var map = Open())
        {
            Set(map, 0, 300);
            var first = map.BeginCheckpoint();
            await map.EndCheckpointAsync(first);
            Set(map, 300, 320);
            map.Forget(map.Tail);
            Set(map, 320, 1000);
            token = map.BeginCheckpoint();
            await map.EndCheckpointAsync(token);
        }

        using var recovered = Open(token);
        Assert.Equal(Enumerable.Range(320, 680).Select(i => (Slot)i),
            Enumerable.Range(320, 680).Select(i => recovered.Find(Key(i))));
    }

    // Any bit that a recovery clears shows.
    private static UInt128 Key(int number) => UInt128.MaxValue - (UInt128)number;

    private static void Set(FasterAddressMap<UInt128, Slot> map, int from, int until)
    {
        for (var i = from; i < until; i++) map.Set(Key(i), (Slot)i);
    }

    private FasterAddressMap<UInt128, Slot> Open(Guid? checkpoint = null) => new(_folder.File("map"), s_sizes,
        error => throw error, static key => (long)(ulong)key, checkpoint);

    /// <summary>With its header and key 72 bytes: sectors begin inside slots.</summary>
    private readonly record struct Slot(long A, long B, long C, long D, long E, long F)
    {
        public static explicit operator Slot(int value) => new(value, -1, -1, -1, -1, -1);
    }
}
