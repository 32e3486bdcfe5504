namespace Salus.Nbd.Tests.Commands;

public sealed class ReadCommandTests
{
    private readonly MemoryVolume _volume = new(1 << 20);
    private readonly byte[] _data = Bytes.Pattern(1 << 20, 1);

    private async Task FillAsync(int firstBlock, int blocks) =>
        await _volume.WriteAsync(firstBlock, _data.AsMemory(firstBlock * 4096, blocks * 4096), durable: true);

    [Theory]
    [InlineData(0, 1)]
    [InlineData(4095, 2)]
    [InlineData(100, 200_000)]
    [InlineData((1 << 20) - 1, 1)]
    [InlineData(0, 1 << 20)]
    public async Task Bytes_of_any_range_are_returned(int offset, int length)
    {
        await FillAsync(0, 256);
        await using var world = NbdWorld.Of(_volume);
        var chunked = await world.AttachAsync();
        Assert.Equal(_data[offset..(offset + length)], await chunked.ReadDataAsync((ulong)offset, (uint)length));
        var simple = await world.AttachAsync(isStructured: false);
        await simple.SendCommandAsync(CommandCode.Read, (ulong)offset, (uint)length, cookie: 7);
        var answer = await simple.ReadSimpleAsync(length);
        Assert.Equal((NbdError.None, 7ul), (answer.Error, answer.Cookie));
        Assert.Equal(_data[offset..(offset + length)], answer.Data);
    }

    [Fact]
    public async Task Empty_blocks_are_told_as_holes_cut_to_the_range()
    {
        await FillAsync(1, 2);
        await FillAsync(5, 1);
        await using var world = NbdWorld.Of(_volume);
        var peer = await world.AttachAsync();
        await peer.SendCommandAsync(CommandCode.Read, 100, 5 * 4096 + 3, cookie: 4);
        (ChunkKind, ulong, int)[] expected =
        [
            (ChunkKind.OffsetHole, 100, 3996), (ChunkKind.OffsetData, 4096, 8192), (ChunkKind.OffsetHole, 12288, 8192),
            (ChunkKind.OffsetData, 20480, 103),
        ];
        for (var i = 0; i < expected.Length; i++)
        {
            var chunk = await peer.ReadChunkAsync();
            var (kind, offset, length) = expected[i];
            Assert.Equal((kind, offset, 4ul), (chunk.Kind, chunk.Offset, chunk.Cookie));
            Assert.Equal(i == expected.Length - 1, chunk.IsLast);
            if (kind == ChunkKind.OffsetHole) Assert.Equal(Bytes.U32((uint)length), chunk.Payload[8..]);
            else Assert.Equal(_data[(int)offset..((int)offset + length)], chunk.Payload[8..]);
        }
    }

    [Fact]
    public async Task Read_that_is_not_to_be_split_is_one_chunk()
    {
        await FillAsync(1, 1);
        await using var world = NbdWorld.Of(_volume);
        var peer = await world.AttachAsync();
        byte[] expected = [.. new byte[4096], .. _data[4096..8192], .. new byte[4096]];
        Assert.Equal(expected, await peer.ReadDataAsync(0, 3 * 4096));
    }

    [Fact]
    public async Task Largest_read_is_answered_and_a_larger_one_refused()
    {
        var volume = new MemoryVolume(64 << 20, 65536);
        await using var world = NbdWorld.Of(volume);
        await volume.WriteAsync(0, Bytes.Pattern(65536, 5), durable: true);
        var peer = await world.AttachAsync();
        var data = await peer.ReadDataAsync(0, 32 << 20);
        Assert.Equal(Bytes.Pattern(65536, 5), data[..65536]);
        Assert.Equal(32 << 20, data.Length);
        await peer.SendCommandAsync(CommandCode.Read, 0, (32 << 20) + 1);
        Assert.Equal(NbdError.Invalid, (await peer.ReadChunkAsync()).Error);
    }

    [Theory]
    [InlineData(4, NbdError.InputOutput)]
    [InlineData(5, NbdError.InputOutput)]
    [InlineData(3, NbdError.Shutdown)]
    public async Task Failed_read_is_an_error_of_a_chunk_and_of_a_simple_reply(int fault, object error)
    {
        _volume.Refuse = call => call.Verb == VolumeVerb.Read
            ? new VolumeException((VolumeFault)fault, "block 3 is damaged") { Block = 3 }
            : null;
        await using var world = NbdWorld.Of(_volume);
        var chunked = await world.AttachAsync();
        await chunked.SendCommandAsync(CommandCode.Read, 4096, 4 * 4096, cookie: 3);
        var chunk = await chunked.ReadChunkAsync();
        Assert.Equal((ChunkKind.ErrorOffset, true, 3ul), (chunk.Kind, chunk.IsLast, chunk.Cookie));
        Assert.Equal((NbdError)error, chunk.Error);
        Assert.Equal([0, 18, .. "block 3 is damaged"u8, .. Bytes.U64(3 * 4096)], chunk.Payload[4..]);
        if ((NbdError)error == NbdError.Shutdown) return;
        var simple = await world.AttachAsync(isStructured: false);
        await simple.SendCommandAsync(CommandCode.Read, 4096, 4096);
        Assert.Equal((NbdError)error, (await simple.ReadSimpleAsync(4096)).Error);
    }

    [Fact]
    public async Task Fault_of_the_program_is_an_error_of_the_device()
    {
        _volume.Hold = call => call.Verb == VolumeVerb.Read ? Task.FromException(new NotSupportedException()) : null;
        await using var world = NbdWorld.Of(_volume);
        var peer = await world.AttachAsync();
        await peer.SendCommandAsync(CommandCode.Read, 0, 4096);
        var chunk = await peer.ReadChunkAsync();
        Assert.Equal((ChunkKind.Error, NbdError.InputOutput), (chunk.Kind, chunk.Error));
        Assert.Equal(NbdError.None, await peer.WriteAsync(0, new byte[4096]));
    }

    [Fact]
    public async Task Slow_read_holds_up_no_other()
    {
        await using var world = NbdWorld.Of(_volume);
        var held = new Held(_volume, call => call is { Verb: VolumeVerb.Read, First: 0 });
        var peer = await world.AttachAsync();
        await peer.SendCommandAsync(CommandCode.Read, 0, 512, cookie: 1);
        await peer.SendCommandAsync(CommandCode.Read, 8192, 512, cookie: 2);
        Assert.Equal(2ul, (await peer.ReadChunkAsync()).Cookie);
        held.Release(0);
        Assert.Equal(1ul, (await peer.ReadChunkAsync()).Cookie);
    }
}
