namespace Salus.Nbd.Tests.Commands;

public sealed class TrimCommandTests
{
    private readonly MemoryVolume _volume = new(1 << 20);

    [Theory]
    [InlineData(0, 4096, 0, 1)]
    [InlineData(1, 8192, 1, 1)]
    [InlineData(4096, 1 << 19, 1, 128)]
    [InlineData(4095, 4098, 1, 1)]
    public async Task Whole_blocks_become_empty_and_parts_stay(int offset, int length, int first, int blocks)
    {
        var expected = Bytes.Pattern(1 << 20, 1);
        await _volume.WriteAsync(0, expected, durable: true);
        await using var world = NbdWorld.Of(_volume);
        var peer = await world.AttachAsync();
        Assert.Equal(NbdError.None, await peer.CallAsync(CommandCode.Trim, (ulong)offset, (uint)length));
        expected.AsSpan(first * 4096, blocks * 4096).Clear();
        Assert.Equal(new VolumeCall(VolumeVerb.Clear, first, blocks, false), _volume.Calls[^1]);
        Assert.Equal(expected, await peer.ReadDataAsync(0, 1 << 20));
    }

    [Fact]
    public async Task Trim_within_a_block_calls_no_volume()
    {
        await using var world = NbdWorld.Of(_volume);
        var peer = await world.AttachAsync();
        Assert.Equal(NbdError.None, await peer.CallAsync(CommandCode.Trim, 1, 4095));
        Assert.Equal(NbdError.None, await peer.CallAsync(CommandCode.Trim, 4095, 4096));
        Assert.Empty(_volume.Calls);
    }

    [Fact]
    public async Task Trim_larger_than_any_payload_is_taken()
    {
        var volume = new MemoryVolume(8L << 30, 65536);
        await using var world = NbdWorld.Of(volume);
        var peer = await world.AttachAsync();
        Assert.Equal(NbdError.None, await peer.CallAsync(CommandCode.Trim, 0, 0xffff_0000, CommandFlags.Fua));
        Assert.Equal([new VolumeCall(VolumeVerb.Clear, 0, 0xffff, true)], volume.Calls);
    }

    [Theory]
    [InlineData(true, 0ul, NbdError.NotPermitted)]
    [InlineData(false, (1ul << 20) - 511, NbdError.Invalid)]
    public async Task Trim_that_cannot_be_is_refused(bool isReadOnly, ulong offset, object error)
    {
        await using var world = NbdWorld.Of(new MemoryVolume(1 << 20) { IsReadOnly = isReadOnly });
        var peer = await world.AttachAsync();
        Assert.Equal((NbdError)error, await peer.CallAsync(CommandCode.Trim, offset, 512));
    }

    [Fact]
    public async Task Trim_keeps_the_order_of_arrival_among_writes()
    {
        await using var world = NbdWorld.Of(_volume);
        var held = new Held(_volume, call => call.Verb == VolumeVerb.Read);
        var peer = await world.AttachAsync();
        await peer.SendWriteAsync(100, new byte[100]);
        await held.WaitForAsync(1);
        await peer.SendCommandAsync(CommandCode.Trim, 0, 4096);
        await peer.SendWriteAsync(0, Bytes.Pattern(4096, 1));
        held.Release(0);
        for (var i = 0; i < 3; i++) Assert.Equal(NbdError.None, (await peer.ReadSimpleAsync()).Error);
        Assert.Equal([VolumeVerb.Read, VolumeVerb.Write, VolumeVerb.Clear, VolumeVerb.Write],
            _volume.Calls.Select(call => call.Verb));
    }
}
