namespace Salus.Nbd.Tests.Commands;

public sealed class WriteZeroesCommandTests
{
    private readonly MemoryVolume _volume = new(4 << 20);

    [Theory]
    [InlineData(0, 4096, CommandFlags.None)]
    [InlineData(0, 100, CommandFlags.None)]
    [InlineData(50, 100, CommandFlags.None)]
    [InlineData(4000, 200, CommandFlags.None)]
    [InlineData(4000, 20_000, CommandFlags.FastZero)]
    [InlineData(4096, 5000, CommandFlags.None)]
    [InlineData(1, (4 << 20) - 2, CommandFlags.None)]
    [InlineData(0, 4096, CommandFlags.NoHole)]
    [InlineData(50, 100, CommandFlags.NoHole)]
    [InlineData(4000, 20_000, CommandFlags.NoHole | CommandFlags.Fua)]
    [InlineData(1, (4 << 20) - 2, CommandFlags.NoHole)]
    public async Task Range_reads_as_zeros_and_no_other_byte_changes(int offset, int length, object flags)
    {
        var expected = Bytes.Pattern(4 << 20, 1);
        await _volume.WriteAsync(0, expected, durable: true);
        await using var world = NbdWorld.Of(_volume);
        var peer = await world.AttachAsync();
        Assert.Equal(NbdError.None,
            await peer.CallAsync(CommandCode.WriteZeroes, (ulong)offset, (uint)length, (CommandFlags)flags));
        expected.AsSpan(offset, length).Clear();
        Assert.Equal(expected, await peer.ReadDataAsync(0, 4 << 20));
        var whole = (offset + length) / 4096 - (offset + 4095) / 4096;
        var isHole = !((CommandFlags)flags).HasFlag(CommandFlags.NoHole);
        Assert.Equal(1024 - (isHole ? Math.Max(0, whole) : 0), _volume.BlocksInUse);
        Assert.All(_volume.Calls.Skip(1).Where(call => call.Verb is VolumeVerb.Write or VolumeVerb.Clear),
            call => Assert.Equal(((CommandFlags)flags).HasFlag(CommandFlags.Fua), call.Durable));
    }

    [Fact]
    public async Task Zeros_that_keep_the_space_are_not_fast()
    {
        await using var world = NbdWorld.Of(_volume);
        var peer = await world.AttachAsync();
        Assert.Equal(NbdError.NotSupported, await peer.CallAsync(
            CommandCode.WriteZeroes, 0, 4096, CommandFlags.NoHole | CommandFlags.FastZero));
        Assert.Empty(_volume.Calls);
    }

    [Fact]
    public async Task Largest_range_is_one_call()
    {
        var volume = new MemoryVolume(8L << 30, 65536);
        await using var world = NbdWorld.Of(volume);
        var peer = await world.AttachAsync();
        Assert.Equal(NbdError.None, await peer.CallAsync(CommandCode.WriteZeroes, 0, 0xffff_0000));
        Assert.Equal([new VolumeCall(VolumeVerb.Clear, 0, 0xffff, false)], volume.Calls);
    }

    [Fact]
    public async Task All_parts_have_one_place()
    {
        await using var world = NbdWorld.Of(_volume);
        var held = new Held(_volume, call => call.Verb == VolumeVerb.Read);
        var peer = await world.AttachAsync();
        await peer.SendCommandAsync(CommandCode.WriteZeroes, 100, 16384);
        await peer.SendWriteAsync(8192, Bytes.Pattern(4096, 1));
        await held.WaitForAsync(2);
        held.Release(1);
        held.Release(0);
        for (var i = 0; i < 2; i++) Assert.Equal(NbdError.None, (await peer.ReadSimpleAsync()).Error);
        Assert.Equal(
        [
            new(VolumeVerb.Read, 0, 1, false), new(VolumeVerb.Read, 4, 1, false), new(VolumeVerb.Write, 0, 1, false),
            new(VolumeVerb.Clear, 1, 3, false), new(VolumeVerb.Write, 4, 1, false),
            new VolumeCall(VolumeVerb.Write, 2, 1, false),
        ], _volume.Calls);
    }

    [Fact]
    public async Task Failure_of_a_part_is_the_error_of_the_command()
    {
        await using var world = NbdWorld.Of(_volume);
        _volume.Refuse = call => call is { Verb: VolumeVerb.Write, First: 0 }
            ? new VolumeException(VolumeFault.OutOfSpace, "full")
            : null;
        var peer = await world.AttachAsync();
        Assert.Equal(NbdError.NoSpace, await peer.CallAsync(CommandCode.WriteZeroes, 100, 16384));
    }

    [Theory]
    [InlineData(true, 0ul, NbdError.NotPermitted)]
    [InlineData(false, (4ul << 20) - 511, NbdError.NoSpace)]
    public async Task Zeros_that_cannot_be_are_refused(bool isReadOnly, ulong offset, object error)
    {
        await using var world = NbdWorld.Of(new MemoryVolume(4 << 20) { IsReadOnly = isReadOnly });
        var peer = await world.AttachAsync();
        Assert.Equal((NbdError)error, await peer.CallAsync(CommandCode.WriteZeroes, offset, 512));
    }
}
