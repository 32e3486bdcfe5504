namespace Salus.Nbd.Tests.Transmission;

public sealed class LimitTests
{
    private readonly MemoryVolume _volume = new(1 << 20);

    [Fact]
    public async Task Connection_is_not_read_beyond_the_memory_of_a_connection()
    {
        // Room for two writes of a block.
        var options = new NbdServerOptions { MaxConnectionBytes = 2 * (20 << 10) };
        await using var world = NbdWorld.Of(_volume, options);
        var held = new Held(_volume, call => call.Verb == VolumeVerb.Write);
        var (one, other) = (await world.AttachAsync(), await world.AttachAsync());
        for (var block = 0ul; block < 3; block++) await one.SendWriteAsync(block * 4096, new byte[4096]);
        await held.WaitForAsync(2);
        await other.SendWriteAsync(16384, new byte[4096]);
        await held.WaitForAsync(3);
        Assert.Equal([0, 1, 4], _volume.Calls.Select(call => call.First));
        held.Release(0);
        await held.WaitForAsync(4);
        Assert.Equal(2, _volume.Calls[3].First);
        for (var i = 1; i < 4; i++) held.Release(i);
    }

    [Fact]
    public async Task Command_larger_than_the_memory_of_a_connection_is_carried_out_alone()
    {
        await using var world = NbdWorld.Of(_volume, new NbdServerOptions { MaxConnectionBytes = 1, MaxBytes = 1 });
        var peer = await world.AttachAsync();
        for (var i = 0; i < 3; i++) await peer.SendWriteAsync(0, new byte[100_000]);
        for (var i = 0; i < 3; i++) Assert.Equal(NbdError.None, (await peer.ReadSimpleAsync()).Error);
    }

    [Fact]
    public async Task Connections_share_the_memory_of_all()
    {
        var options = new NbdServerOptions { MaxConnectionBytes = 20 << 10, MaxBytes = 20 << 10 };
        await using var world = NbdWorld.Of(_volume, options);
        var held = new Held(_volume, call => call.Verb == VolumeVerb.Write);
        var (one, other) = (await world.AttachAsync(), await world.AttachAsync());
        await one.SendWriteAsync(0, new byte[4096]);
        await held.WaitForAsync(1);
        await other.SendWriteAsync(4096, new byte[4096]);
        Assert.Single(_volume.Calls);
        held.Release(0);
        await held.WaitForAsync(2);
        held.Release(1);
        Assert.Equal(NbdError.None, (await other.ReadSimpleAsync()).Error);
    }

    [Theory]
    [InlineData(10)]
    [InlineData(28 + 4095)]
    public async Task Client_that_sends_a_command_too_slowly_is_cut_off(int bytes)
    {
        await using var world = NbdWorld.Of(_volume);
        var peer = await world.AttachAsync();
        byte[] command = [.. Bytes.Command(CommandCode.Write, 0, 4096), .. new byte[4096]];
        await peer.SendAsync(command.AsMemory(0, bytes));
        // The wait begins when the server has seen the bytes.
        while (!peer.Serving.IsCompleted)
        {
            world.Time.Advance(TimeSpan.FromSeconds(10));
            peer.Connection.Sweep();
            await Task.Delay(5);
        }

        await peer.AssertEndAsync();
        Assert.Empty(_volume.Calls);
    }

    [Fact]
    public async Task Idle_client_is_not_cut_off()
    {
        await using var world = NbdWorld.Of(_volume);
        var peer = await world.AttachAsync();
        await peer.WriteAsync(0, new byte[100]);
        world.Time.Advance(TimeSpan.FromHours(1));
        peer.Connection.Sweep();
        Assert.Equal(new byte[100], await peer.ReadDataAsync(0, 100));
    }

    [Fact]
    public async Task Client_that_takes_no_replies_is_cut_off()
    {
        await _volume.WriteAsync(0, new byte[1 << 20], durable: true);
        await using var world = NbdWorld.Of(_volume);
        var peer = await world.AttachAsync();
        for (var i = 0; i < 4; i++) await peer.SendCommandAsync(CommandCode.Read, 0, 1 << 20);
        while (!peer.Serving.IsCompleted)
        {
            world.Time.Advance(TimeSpan.FromSeconds(10));
            peer.Connection.Sweep();
            await Task.Delay(5);
        }
    }

    [Fact]
    public async Task Client_that_waits_for_a_slow_volume_is_not_cut_off()
    {
        await using var world = NbdWorld.Of(_volume);
        var held = new Held(_volume, call => call.Verb == VolumeVerb.Write);
        var peer = await world.AttachAsync();
        await peer.SendWriteAsync(0, new byte[4096]);
        await held.WaitForAsync(1);
        world.Time.Advance(TimeSpan.FromMinutes(10));
        peer.Connection.Sweep();
        held.Release(0);
        Assert.Equal(NbdError.None, (await peer.ReadSimpleAsync()).Error);
    }
}
