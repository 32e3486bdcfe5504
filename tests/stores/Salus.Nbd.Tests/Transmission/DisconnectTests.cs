namespace Salus.Nbd.Tests.Transmission;

public sealed class DisconnectTests
{
    private readonly MemoryVolume _volume = new(1 << 20);

    [Fact]
    public async Task Disconnect_ends_after_all_replies()
    {
        await using var world = NbdWorld.Of(_volume);
        var held = new Held(_volume, call => call.Verb == VolumeVerb.Write);
        var peer = await world.AttachAsync();
        await peer.SendWriteAsync(0, new byte[4096], cookie: 1);
        await peer.SendCommandAsync(CommandCode.Disconnect, 0, 0);
        await held.WaitForAsync(1);
        Assert.False(peer.Serving.IsCompleted);
        held.Release(0);
        Assert.Equal((NbdError.None, 1ul, 0),
            await peer.ReadSimpleAsync() is var answer ? (answer.Error, answer.Cookie, answer.Data.Length) : default);
        await peer.AssertEndAsync();
    }

    [Fact]
    public async Task Large_reply_is_whole_before_the_end()
    {
        var data = Bytes.Pattern(1 << 20, 1);
        await _volume.WriteAsync(0, data, durable: true);
        await using var world = NbdWorld.Of(_volume);
        var held = new Held(_volume, call => call.Verb == VolumeVerb.Read);
        var peer = await world.AttachAsync(isStructured: false);
        await peer.SendCommandAsync(CommandCode.Read, 0, 1 << 20);
        await peer.SendCommandAsync(CommandCode.Disconnect, 0, 0);
        await held.WaitForAsync(1);
        held.Release(0);
        Assert.Equal(data, (await peer.ReadSimpleAsync(1 << 20)).Data);
        await peer.AssertEndAsync();
    }

    [Fact]
    public async Task Command_behind_a_disconnect_is_not_carried_out()
    {
        await using var world = NbdWorld.Of(_volume);
        var peer = await world.AttachAsync();
        await peer.SendAsync((byte[])
            [.. Bytes.Command(CommandCode.Disconnect, 0, 0), .. Bytes.Command(CommandCode.Trim, 0, 4096)]);
        await peer.AssertEndAsync();
        Assert.Empty(_volume.Calls);
    }

    [Fact]
    public async Task Client_that_closes_gives_up_reads()
    {
        await using var world = NbdWorld.Of(_volume);
        var held = new Held(_volume, call => call.Verb == VolumeVerb.Read);
        var peer = await world.AttachAsync();
        await peer.SendCommandAsync(CommandCode.Read, 0, 4096);
        await held.WaitForAsync(1);
        await peer.CloseAsync();
        await peer.Serving.WaitAsync(TimeSpan.FromSeconds(20));
    }

    [Fact]
    public async Task Payload_that_ends_early_is_not_written()
    {
        await using var world = NbdWorld.Of(_volume);
        var peer = await world.AttachAsync();
        await peer.SendAsync((byte[])[.. Bytes.Command(CommandCode.Write, 0, 4096), .. new byte[4095]]);
        await peer.CloseAsync();
        await peer.AssertEndAsync();
        Assert.Empty(_volume.Calls);
    }

    [Fact]
    public async Task Bytes_that_are_no_command_end_the_connection_after_all_replies()
    {
        await using var world = NbdWorld.Of(_volume);
        var held = new Held(_volume, call => call.Verb == VolumeVerb.Write);
        var peer = await world.AttachAsync();
        await peer.SendWriteAsync(0, new byte[4096]);
        await peer.SendAsync(new byte[28]);
        await held.WaitForAsync(1);
        held.Release(0);
        Assert.Equal(NbdError.None, (await peer.ReadSimpleAsync()).Error);
        await peer.AssertEndAsync();
    }
}
