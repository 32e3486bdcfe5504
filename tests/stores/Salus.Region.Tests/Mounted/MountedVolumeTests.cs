using Microsoft.Extensions.Logging.Abstractions;
using Salus.Region.Tests.Support;

namespace Salus.Region.Tests.Mounted;

/// <summary>The shipped driver over region servers, their stores and the codec.</summary>
public sealed class MountedVolumeTests
{
    private const int BlockSize = 4096;

    [Fact(Timeout = TestWorld.Timeout)]
    public async Task Volume_of_three_members_is_written_read_and_mounted_again()
    {
        await using var world = await TestWorld.StartAsync(regions: 3);
        await using (var volume = await MountAsync(world))
        {
            await WriteAsync(volume, 14, 1, 2, 3, 4);
            await WriteAsync(volume, 30, 5, 6, 7, 8);
            await volume.ClearAsync(15, 1, durable: true);
            Assert.Equal([0, 1, 0, 3, 4, 0], await ReadAsync(volume, 13, 6));
            await volume.FlushAsync();
        }

        await using var again = await MountAsync(world);
        Assert.Equal([0, 1, 0, 3, 4, 0], await ReadAsync(again, 13, 6));
        Assert.Equal([5, 6, 7, 8], await ReadAsync(again, 30, 4));
        await WriteAsync(again, 0, 9);
        Assert.Equal([9], await ReadAsync(again, 0, 1));
    }

    [Fact(Timeout = TestWorld.Timeout)]
    public async Task Writes_under_way_together_match_the_model()
    {
        await using var world = await TestWorld.StartAsync(regions: 3);
        await using var volume = await MountAsync(world);
        var random = new Random(4);
        var model = new byte[48];
        for (var round = 0; round < 20; round++)
        {
            var writes = new List<Task>();
            for (var i = 0; i < 20; i++)
            {
                // The stores of the test take a batch of seven blocks in a region.
                var isAcross = random.Next(4) == 0;
                var first = (16 * random.Next(isAcross ? 2 : 3)) + (isAcross ? 15 : random.Next(5));
                var tags = new byte[isAcross ? 2 : random.Next(1, 3)];
                Array.Fill(tags, (byte)random.Next(1, 256));
                tags.CopyTo(model, first);
                writes.Add(WriteAsync(volume, first, tags));
            }

            await Task.WhenAll(writes);
            Assert.Equal(model, await ReadAsync(volume, 0, 48));
        }
    }

    [Fact(Timeout = TestWorld.Timeout)]
    public async Task Lost_messages_are_sent_again()
    {
        await using var world = await TestWorld.StartAsync(regions: 3);
        var random = new Random(7);
        bool IsLost(NodeId to, Request request)
        {
            lock (random) return random.Next(20) == 0;
        }

        await using var volume = await MountAsync(world);
        (world.Network.Drops, world.Network.DropsAnswer) = (IsLost, IsLost);
        for (byte i = 0; i < 30; i++) await WriteAsync(volume, i, (byte)(i + 1), (byte)(i + 1));
        (world.Network.Drops, world.Network.DropsAnswer) = (null, null);
        Assert.Equal(Enumerable.Range(1, 30).Select(static i => (byte)i), await ReadAsync(volume, 0, 30));
    }

    [Fact(Timeout = TestWorld.Timeout)]
    public async Task Replaced_region_is_compared_and_goes_on()
    {
        await using var world = await TestWorld.StartAsync(regions: 2, nodes: 4);
        await using var volume = await MountAsync(world);
        await WriteAsync(volume, 14, 1, 2, 3, 4);
        await world.ReplaceAsync(0, world.Nodes[0], world.Nodes[1], world.Nodes[3]);
        await WriteAsync(volume, 15, 7, 8);
        Assert.Equal([1, 7, 8, 4], await ReadAsync(volume, 14, 4));
        Assert.True(world.Map.State.Regions[0].Current.IsAdmitted);
    }

    [Fact(Timeout = TestWorld.Timeout)]
    public async Task Second_driver_takes_over_behind_a_dead_one()
    {
        await using var world = await TestWorld.StartAsync(regions: 2);
        var first = await MountAsync(world);
        await WriteAsync(first, 0, 1, 2);
        await using var second = await MountAsync(world);
        Assert.Equal([1, 2], await ReadAsync(second, 0, 2));
        await WriteAsync(second, 1, 3);
        var fenced = await Assert.ThrowsAsync<VolumeException>(() => WriteAsync(first, 0, 9));
        Assert.Equal(VolumeFault.LeaseLost, fenced.Fault);
        Assert.Equal([1, 3], await ReadAsync(second, 0, 2));
        await first.DisposeAsync();
    }

    private static async Task<IVolume> MountAsync(TestWorld world)
    {
        var ports = new VolumePorts(new MapVolumeLog(world.Map), world.Network.Transport, TimeProvider.System,
            SystemEntropy.Instance, LoopContext.Pool, NullLogger.Instance);
        return await VolumeDriver.MountAsync(
            ports, SalusClientOptions.Default, TestContext.Current.CancellationToken);
    }

    private static async Task WriteAsync(IVolume volume, long block, params byte[] tags)
    {
        var data = new byte[tags.Length * BlockSize];
        for (var i = 0; i < tags.Length; i++) data.AsSpan(i * BlockSize, BlockSize).Fill(tags[i]);
        await volume.WriteAsync(block, data, durable: false);
    }

    private static async Task<byte[]> ReadAsync(IVolume volume, long block, int count)
    {
        var data = new byte[count * BlockSize];
        await volume.ReadAsync(block, data, null, TestContext.Current.CancellationToken);
        for (var i = 0; i < count; i++)
            Assert.Equal(-1, data.AsSpan(i * BlockSize, BlockSize).IndexOfAnyExcept(data[i * BlockSize]));

        return [.. Enumerable.Range(0, count).Select(i => data[i * BlockSize])];
    }
}
