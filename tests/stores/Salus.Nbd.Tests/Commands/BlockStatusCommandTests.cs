using System.Buffers.Binary;

namespace Salus.Nbd.Tests.Commands;

public sealed class BlockStatusCommandTests
{
    private readonly MemoryVolume _volume = new(1 << 20);

    private static List<(uint Length, uint Status)> Extents(ChunkAnswer chunk)
    {
        Assert.Equal((ChunkKind.BlockStatus, true), (chunk.Kind, chunk.IsLast));
        Assert.Equal(1u, BinaryPrimitives.ReadUInt32BigEndian(chunk.Payload));
        var extents = new List<(uint, uint)>();
        for (var at = 4; at < chunk.Payload.Length; at += 8)
        {
            extents.Add((BinaryPrimitives.ReadUInt32BigEndian(chunk.Payload.AsSpan(at)),
                BinaryPrimitives.ReadUInt32BigEndian(chunk.Payload.AsSpan(at + 4))));
        }

        return extents;
    }

    private async Task<NbdPeer> AttachAsync(NbdWorld world)
    {
        await _volume.WriteAsync(1, new byte[8192], durable: true);
        return await world.AttachAsync();
    }

    [Fact]
    public async Task Empty_blocks_are_holes_of_zeros_and_written_blocks_data()
    {
        await using var world = NbdWorld.Of(_volume);
        var peer = await AttachAsync(world);
        await peer.SendCommandAsync(CommandCode.BlockStatus, 0, 1 << 20);
        Assert.Equal([(4096, 3), (8192, 0), ((1 << 20) - 12288, 3)], Extents(await peer.ReadChunkAsync()));
    }

    [Theory]
    [InlineData(100u, 200u, "200/3")]
    [InlineData(4000u, 200u, "96/3 104/0")]
    [InlineData(5000u, 8000u, "7288/0 712/3")]
    public async Task Extents_are_cut_to_the_range(uint offset, uint length, string expected)
    {
        await using var world = NbdWorld.Of(_volume);
        var peer = await AttachAsync(world);
        await peer.SendCommandAsync(CommandCode.BlockStatus, offset, length);
        var extents = Extents(await peer.ReadChunkAsync());
        Assert.Equal(expected, string.Join(' ', extents.Select(extent => $"{extent.Length}/{extent.Status}")));
    }

    [Fact]
    public async Task Client_that_wants_one_extent_gets_one()
    {
        await using var world = NbdWorld.Of(_volume);
        var peer = await AttachAsync(world);
        await peer.SendCommandAsync(CommandCode.BlockStatus, 100, 1 << 19, flags: CommandFlags.RequestOne);
        Assert.Equal([(3996, 3)], Extents(await peer.ReadChunkAsync()));
    }

    [Fact]
    public async Task Fragmented_range_is_answered_in_part()
    {
        var volume = new MemoryVolume(64 << 20, 512);
        for (var block = 0; block < 10_000; block += 2) await volume.WriteAsync(block, new byte[512], durable: true);
        await using var world = NbdWorld.Of(volume);
        var peer = await world.AttachAsync();
        await peer.SendCommandAsync(CommandCode.BlockStatus, 0, 64 << 20);
        var extents = Extents(await peer.ReadChunkAsync());
        Assert.Equal(4096, extents.Count);
        Assert.All(extents, extent => Assert.Equal(512u, extent.Length));
    }

    [Fact]
    public async Task Client_without_the_context_is_refused()
    {
        await using var world = NbdWorld.Of(_volume);
        var chunked = await world.AttachAsync(hasContext: false);
        await chunked.SendCommandAsync(CommandCode.BlockStatus, 0, 512);
        Assert.Equal(NbdError.Invalid, (await chunked.ReadChunkAsync()).Error);
        var simple = await world.AttachAsync(isStructured: false);
        Assert.Equal(NbdError.Invalid, await simple.CallAsync(CommandCode.BlockStatus, 0, 512));
    }

    [Fact]
    public async Task Failure_is_an_error_of_a_chunk()
    {
        await using var world = NbdWorld.Of(_volume);
        var peer = await AttachAsync(world);
        _volume.Refuse = call => call.Verb == VolumeVerb.Describe
            ? new VolumeException(VolumeFault.Unavailable, "away")
            : null;
        await peer.SendCommandAsync(CommandCode.BlockStatus, 0, 512);
        var chunk = await peer.ReadChunkAsync();
        Assert.Equal((ChunkKind.Error, NbdError.InputOutput), (chunk.Kind, chunk.Error));
    }
}
