namespace Salus.Nbd.Tests.Commands;

public sealed class WriteCommandTests
{
    private readonly MemoryVolume _volume = new(1 << 20);

    [Theory]
    [InlineData(0, 4096)]
    [InlineData(0, 1)]
    [InlineData(4095, 1)]
    [InlineData(4095, 2)]
    [InlineData(1, 4094)]
    [InlineData(100, 4096)]
    [InlineData(4096, 100)]
    [InlineData(4000, 8300)]
    [InlineData(0, 1 << 20)]
    [InlineData((1 << 20) - 1, 1)]
    public async Task Bytes_of_any_range_are_written_and_no_other_byte(int offset, int length)
    {
        var expected = Bytes.Pattern(1 << 20, 1);
        await _volume.WriteAsync(0, expected, durable: true);
        await using var world = NbdWorld.Of(_volume);
        var peer = await world.AttachAsync();
        var data = Bytes.Pattern(length, 2);
        Assert.Equal(NbdError.None, await peer.WriteAsync((ulong)offset, data));
        data.CopyTo(expected, offset);
        Assert.Equal(expected, await peer.ReadDataAsync(0, 1 << 20));
    }

    [Fact]
    public async Task Whole_blocks_are_one_write_without_a_read()
    {
        await using var world = NbdWorld.Of(_volume);
        var peer = await world.AttachAsync();
        await peer.WriteAsync(8192, Bytes.Pattern(65536, 1));
        Assert.Equal([new VolumeCall(VolumeVerb.Write, 2, 16, false)], _volume.Calls);
    }

    [Theory]
    [InlineData(CommandFlags.None, false)]
    [InlineData(CommandFlags.Fua, true)]
    public async Task Forced_write_is_durable(object flags, bool durable)
    {
        await using var world = NbdWorld.Of(_volume);
        var peer = await world.AttachAsync();
        await peer.WriteAsync(0, new byte[4096], (CommandFlags)flags);
        Assert.Equal(durable, _volume.Calls.Single().Durable);
    }

    [Fact]
    public async Task Reply_follows_the_commit()
    {
        await using var world = NbdWorld.Of(_volume);
        var held = new Held(_volume, call => call.Verb == VolumeVerb.Write);
        var peer = await world.AttachAsync();
        await peer.SendWriteAsync(0, new byte[4096], cookie: 5);
        await held.WaitForAsync(1);
        // A later command is answered, so that the write's reply would have been there.
        await peer.SendCommandAsync(CommandCode.Cache, 0, 4096, cookie: 6);
        Assert.Equal(6ul, (await peer.ReadSimpleAsync()).Cookie);
        Assert.False(peer.HasAnswer);
        held.Release(0);
        Assert.Equal(5ul, (await peer.ReadSimpleAsync()).Cookie);
    }

    [Fact]
    public async Task Volume_that_acknowledges_early_is_answered_early()
    {
        var volume = new MemoryVolume(1 << 20) { AcknowledgesInOrder = true };
        await using var world = NbdWorld.Of(volume);
        var held = new Held(volume, call => call.Verb == VolumeVerb.Write);
        var peer = await world.AttachAsync();
        Assert.Equal(NbdError.None, await peer.WriteAsync(0, Bytes.Pattern(4096, 1)));
        // A read sees what was acknowledged.
        Assert.Equal(Bytes.Pattern(4096, 1), await peer.ReadDataAsync(0, 4096));
        await peer.SendWriteAsync(4096, new byte[4096], cookie: 2, CommandFlags.Fua);
        await peer.SendCommandAsync(CommandCode.Flush, 0, 0, cookie: 3);
        await peer.SendCommandAsync(CommandCode.Cache, 0, 4096, cookie: 4);
        Assert.Equal(4ul, (await peer.ReadSimpleAsync()).Cookie);
        Assert.False(peer.HasAnswer);
        held.Release(1);
        Assert.Equal(2ul, (await peer.ReadSimpleAsync()).Cookie);
        Assert.False(peer.HasAnswer);
        held.Release(0);
        Assert.Equal(3ul, (await peer.ReadSimpleAsync()).Cookie);
    }

    [Theory]
    [InlineData(1, NbdError.NotPermitted)]
    [InlineData(2, NbdError.NoSpace)]
    [InlineData(4, NbdError.InputOutput)]
    [InlineData(5, NbdError.InputOutput)]
    public async Task Failed_write_is_answered_with_the_error(int fault, object error)
    {
        await using var world = NbdWorld.Of(_volume);
        _volume.Refuse = call => call is { Verb: VolumeVerb.Write, First: 0 }
            ? new VolumeException((VolumeFault)fault, "no")
            : null;
        var peer = await world.AttachAsync();
        Assert.Equal((NbdError)error, await peer.WriteAsync(0, new byte[4096]));
        Assert.Equal(NbdError.None, await peer.WriteAsync(4096, new byte[4096]));
        _volume.Refuse = null;
        var held = new Held(_volume, call => call.Verb == VolumeVerb.Write);
        await peer.SendWriteAsync(0, new byte[4096]);
        await held.WaitForAsync(1);
        held.Fail(0, (VolumeFault)fault);
        Assert.Equal((NbdError)error, (await peer.ReadSimpleAsync()).Error);
    }

    [Theory]
    [InlineData(true, 0ul, 512, NbdError.NotPermitted)]
    [InlineData(false, (1ul << 20) - 511, 512, NbdError.NoSpace)]
    [InlineData(false, ulong.MaxValue, 512, NbdError.NoSpace)]
    [InlineData(false, 0ul, 0, NbdError.Invalid)]
    public async Task Refused_write_is_passed_over_with_the_payload(
        bool isReadOnly, ulong offset, int length, object error)
    {
        var volume = new MemoryVolume(1 << 20) { IsReadOnly = isReadOnly };
        await using var world = NbdWorld.Of(volume);
        var peer = await world.AttachAsync();
        Assert.Equal((NbdError)error, await peer.WriteAsync(offset, new byte[length]));
        Assert.Equal(NbdError.None, await peer.CallAsync(CommandCode.Cache, 0, 512));
        Assert.Empty(volume.Calls);
    }

    [Fact]
    public async Task Largest_write_is_taken_a_larger_one_refused_and_an_absurd_one_closes()
    {
        var volume = new MemoryVolume(128 << 20, 1 << 16);
        await using var world = NbdWorld.Of(volume);
        var peer = await world.AttachAsync();
        Assert.Equal(NbdError.None, await peer.WriteAsync(1, new byte[32 << 20]));
        Assert.Equal(NbdError.Invalid, await peer.WriteAsync(1, new byte[(32 << 20) + 1]));
        Assert.Equal(NbdError.None, await peer.WriteAsync(1, new byte[1]));
        await peer.SendCommandAsync(CommandCode.Write, 0, uint.MaxValue);
        await peer.AssertEndAsync();
    }
}
