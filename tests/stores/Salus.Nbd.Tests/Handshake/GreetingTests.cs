namespace Salus.Nbd.Tests.Handshake;

public sealed class GreetingTests
{
    private readonly MemoryVolume _volume = new(1 << 20);

    [Theory]
    [InlineData(0u)]
    [InlineData(1u)]
    [InlineData(3u)]
    public async Task Client_with_known_flags_goes_on(uint flags)
    {
        await using var world = NbdWorld.Of(_volume);
        var peer = world.Connect();
        await peer.GreetAsync(flags);
        await peer.SendOptionAsync(OptionCode.List, []);
        Assert.Equal(OptionReply.Server, (await peer.ReadOptionAsync()).Kind);
    }

    [Theory]
    [InlineData(4u)]
    [InlineData(0x80000001u)]
    public async Task Client_with_unknown_flags_is_closed(uint flags)
    {
        await using var world = NbdWorld.Of(_volume);
        var peer = world.Connect();
        await peer.GreetAsync(flags);
        await peer.AssertEndAsync();
    }

    [Fact]
    public async Task Unknown_option_is_refused_and_the_next_answered()
    {
        await using var world = NbdWorld.Of(_volume);
        var peer = world.Connect();
        await peer.GreetAsync();
        await peer.SendOptionAsync((OptionCode)11, [1, 2, 3]);
        var answer = await peer.ReadOptionAsync();
        Assert.Equal(((OptionCode)11, OptionReply.Unsupported), (answer.Option, answer.Kind));
        await peer.SendOptionAsync(OptionCode.List, []);
        Assert.Equal(OptionReply.Server, (await peer.ReadOptionAsync()).Kind);
    }

    [Fact]
    public async Task Option_with_too_much_data_is_refused_and_the_next_answered()
    {
        await using var world = NbdWorld.Of(_volume);
        var peer = world.Connect();
        await peer.GreetAsync();
        await peer.SendOptionAsync(OptionCode.Info, new byte[100_000]);
        Assert.Equal(OptionReply.TooBig, (await peer.ReadOptionAsync()).Kind);
        await peer.SendOptionAsync(OptionCode.List, []);
        Assert.Equal(OptionReply.Server, (await peer.ReadOptionAsync()).Kind);
    }

    [Fact]
    public async Task Option_with_absurd_data_is_closed_before_the_data()
    {
        await using var world = NbdWorld.Of(_volume);
        var peer = world.Connect();
        await peer.GreetAsync();
        await peer.SendAsync((byte[])[.. "IHAVEOPT"u8, .. Bytes.U32(7), .. Bytes.U32(uint.MaxValue)]);
        await peer.AssertEndAsync();
    }

    [Fact]
    public async Task Client_that_only_sends_options_is_closed()
    {
        await using var world = NbdWorld.Of(_volume);
        var peer = world.Connect();
        await peer.GreetAsync();
        for (var i = 0; i < 128; i++)
        {
            await peer.SendOptionAsync(OptionCode.StructuredReply, []);
            Assert.Equal(OptionReply.Ack, (await peer.ReadOptionAsync()).Kind);
        }

        await peer.AssertEndAsync();
    }

    [Fact]
    public async Task Client_that_takes_too_long_is_closed()
    {
        await using var world = NbdWorld.Of(_volume);
        var peer = world.Connect();
        await peer.GreetAsync();
        await peer.SendOptionAsync(OptionCode.StructuredReply, []);
        await peer.ReadOptionAsync();
        await peer.SendAsync("IHAVE"u8.ToArray());
        world.Time.Advance(world.Services.Options.HandshakeTimeout + TimeSpan.FromSeconds(1));
        await peer.AssertEndAsync();
    }

    [Fact]
    public async Task Client_that_closes_within_an_option_ends_the_connection()
    {
        await using var world = NbdWorld.Of(_volume);
        var peer = world.Connect();
        await peer.GreetAsync();
        await peer.SendAsync("IHAVEOPT"u8.ToArray());
        await peer.CloseAsync();
        await peer.AssertEndAsync();
    }

    [Fact]
    public async Task Stopping_server_closes_a_client_within_the_negotiation()
    {
        await using var world = NbdWorld.Of(_volume);
        var peer = world.Connect();
        await peer.GreetAsync();
        peer.Connection.Stop();
        await peer.AssertEndAsync();
    }
}
