namespace Salus.Nbd.Tests.Transmission;

public sealed class StopTests
{
    private readonly MemoryVolume _volume = new(1 << 20);

    [Fact]
    public async Task Stopping_server_ends_an_idle_connection()
    {
        await using var world = NbdWorld.Of(_volume);
        var peer = await world.AttachAsync();
        peer.Connection.Stop();
        await peer.AssertEndAsync();
    }

    [Fact]
    public async Task Commands_under_way_end_and_new_ones_are_refused_with_shutdown()
    {
        await using var world = NbdWorld.Of(_volume);
        var held = new Held(_volume, call => call.Verb == VolumeVerb.Write);
        var peer = await world.AttachAsync();
        await peer.SendWriteAsync(0, new byte[4096], cookie: 1);
        await held.WaitForAsync(1);
        peer.Connection.Stop();
        await peer.SendCommandAsync(CommandCode.Trim, 0, 4096, cookie: 2);
        var refused = await peer.ReadSimpleAsync();
        Assert.Equal((NbdError.Shutdown, 2ul), (refused.Error, refused.Cookie));
        await peer.SendWriteAsync(0, new byte[4096], cookie: 3);
        Assert.Equal(NbdError.Shutdown, (await peer.ReadSimpleAsync()).Error);
        await peer.SendCommandAsync(CommandCode.Read, 0, 512, cookie: 4);
        Assert.Equal(NbdError.Shutdown, (await peer.ReadChunkAsync()).Error);
        held.Release(0);
        var done = await peer.ReadSimpleAsync();
        Assert.Equal((NbdError.None, 1ul), (done.Error, done.Cookie));
        await peer.AssertEndAsync();
        Assert.Single(_volume.Calls);
    }
}
