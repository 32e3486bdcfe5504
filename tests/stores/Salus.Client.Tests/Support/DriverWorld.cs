using Microsoft.Extensions.Logging.Abstractions;
using Salus.Snapshots;

namespace Salus.Client.Tests.Support;

/// <summary>A volume of fake regions, and processes that mount it one after the other.</summary>
internal sealed class DriverWorld(VirtualTime time, int seed, int regions = 4, int regionBlocks = 16)
{
    public VirtualTime Time => time;

    public Random Random { get; } = new(seed);

    public FakeRegions Regions { get; } = new(time, new Random(seed), regions, regionBlocks);

    public SalusClientOptions Options { get; set; } = new() { Patience = TimeSpan.FromSeconds(30) };

    public int Blocks => (int)Regions.Geometry.Blocks;

    public static void Run(int seed, Func<DriverWorld, Task> body, int regions = 4, int regionBlocks = 16) =>
        SeededContext.Run(seed, async time =>
        {
            var world = new DriverWorld(time, seed, regions, regionBlocks);
            await body(world);
            world.Regions.Check();
        });

    public async Task<DriverProcess> MountAsync()
    {
        var dead = new CancellationTokenSource();
        var ports = new VolumePorts(Regions.Log.For(dead.Token), Regions.Transport(dead.Token), time,
            new SeededEntropy(Random.Next()), SeededContext.Loops, NullLogger.Instance);
        return new DriverProcess(this, await VolumeDriver.MountAsync(ports, Options, CancellationToken.None), dead);
    }

    public async Task<IVolume> MountSnapshotAsync(string name)
    {
        var ports = new VolumePorts(Regions.Log.For(CancellationToken.None), Regions.Transport(CancellationToken.None),
            time, new SeededEntropy(Random.Next()), SeededContext.Loops, NullLogger.Instance);
        return await SnapshotVolume.MountAsync(ports, Options, name, CancellationToken.None);
    }

    public byte[] Block(byte tag)
    {
        var block = new byte[Regions.Geometry.BlockSize];
        Array.Fill(block, tag);
        return block;
    }

    public Task SleepAsync(double milliseconds) => Task.Delay(TimeSpan.FromMilliseconds(milliseconds), time);
}

/// <summary>A process with a mounted volume.</summary>
internal sealed class DriverProcess(DriverWorld world, VolumeDriver volume, CancellationTokenSource dead)
{
    public VolumeDriver Volume => volume;

    /// <summary>Ends the process at once; its lock is free later.</summary>
    public void Kill()
    {
        dead.Cancel();
        world.Regions.Log.EndLease();
    }

    public Task WriteAsync(long block, params ReadOnlySpan<byte> tags)
    {
        var data = new byte[tags.Length * volume.BlockSize];
        for (var i = 0; i < tags.Length; i++) data.AsSpan(i * volume.BlockSize, volume.BlockSize).Fill(tags[i]);
        return EndAsync(volume.WriteAsync(block, data, durable: false));
    }

    public Task ClearAsync(long block, long count) => EndAsync(volume.ClearAsync(block, count, durable: false));

    // Ends on the thread of the test: Task.WhenAll of the volume's own tasks would not.
    private static async Task EndAsync(ValueTask call) => await call;

    /// <summary>The first byte of each block; all of a block are equal.</summary>
    public async Task<byte[]> ReadAsync(long block, int count)
    {
        var data = new byte[count * volume.BlockSize];
        await volume.ReadAsync(block, data, null, CancellationToken.None);
        var tags = new byte[count];
        for (var i = 0; i < count; i++)
        {
            tags[i] = data[i * volume.BlockSize];
            Assert.Equal(-1, data.AsSpan(i * volume.BlockSize, volume.BlockSize).IndexOfAnyExcept(tags[i]));
        }

        return tags;
    }
}
