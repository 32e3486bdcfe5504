namespace Salus.Nbd.Tests.Commands;

public sealed class FlushCommandTests
{
    private readonly MemoryVolume _volume = new(1 << 20) { AcknowledgesInOrder = true };

    [Fact]
    public async Task Flush_covers_writes_answered_on_another_connection()
    {
        await using var world = NbdWorld.Of(_volume);
        var held = new Held(_volume, call => call.Verb == VolumeVerb.Write);
        var (one, other) = (await world.AttachAsync(), await world.AttachAsync());
        Assert.Equal(NbdError.None, await one.WriteAsync(0, new byte[4096]));
        await other.SendCommandAsync(CommandCode.Flush, 0, 0, cookie: 2);
        await other.SendCommandAsync(CommandCode.Cache, 0, 4096, cookie: 3);
        Assert.Equal(3ul, (await other.ReadSimpleAsync()).Cookie);
        Assert.False(other.HasAnswer);
        held.Release(0);
        Assert.Equal(2ul, (await other.ReadSimpleAsync()).Cookie);
    }

    [Fact]
    public async Task Flush_stands_behind_a_write_that_waits_for_a_read()
    {
        await using var world = NbdWorld.Of(_volume);
        var held = new Held(_volume, call => call.Verb == VolumeVerb.Read);
        var peer = await world.AttachAsync();
        await peer.SendWriteAsync(100, new byte[100], cookie: 1);
        await peer.SendCommandAsync(CommandCode.Flush, 0, 0, cookie: 2);
        await held.WaitForAsync(1);
        held.Release(0);
        Assert.Equal(NbdError.None, (await peer.ReadSimpleAsync()).Error);
        Assert.Equal(NbdError.None, (await peer.ReadSimpleAsync()).Error);
        Assert.Equal(
            [VolumeVerb.Read, VolumeVerb.Write, VolumeVerb.Flush], _volume.Calls.Select(call => call.Verb));
    }

    [Fact]
    public async Task Flush_of_a_read_only_export_is_answered()
    {
        await using var world = NbdWorld.Of(new MemoryVolume(1 << 20) { IsReadOnly = true });
        var peer = await world.AttachAsync();
        Assert.Equal(NbdError.None, await peer.CallAsync(CommandCode.Flush, 0, 0));
    }

    [Theory]
    [InlineData(1ul, 0u)]
    [InlineData(0ul, 1u)]
    public async Task Flush_of_a_range_is_refused(ulong offset, uint length)
    {
        await using var world = NbdWorld.Of(_volume);
        var peer = await world.AttachAsync();
        Assert.Equal(NbdError.Invalid, await peer.CallAsync(CommandCode.Flush, offset, length));
    }

    [Fact]
    public async Task Failed_flush_is_answered_with_the_error()
    {
        _volume.Refuse = call => call.Verb == VolumeVerb.Flush
            ? new VolumeException(VolumeFault.Unavailable, "the stores are away")
            : null;
        await using var world = NbdWorld.Of(_volume);
        var peer = await world.AttachAsync();
        Assert.Equal(NbdError.InputOutput, await peer.CallAsync(CommandCode.Flush, 0, 0));
    }
}
