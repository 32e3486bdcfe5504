namespace Salus.Nbd.Tests.Handshake;

public sealed class MetaContextOptionTests
{
    private readonly MemoryVolume _volume = new(1 << 20);

    private static async Task<NbdPeer> GreetAsync(NbdWorld world)
    {
        var peer = world.Connect();
        await peer.GreetAsync();
        await peer.SendOptionAsync(OptionCode.StructuredReply, []);
        await peer.ReadOptionAsync();
        return peer;
    }

    [Theory]
    [InlineData(true)]
    [InlineData(true, "base:")]
    [InlineData(true, "base:allocation")]
    [InlineData(true, "x:y", "base:allocation", "base:allocation")]
    [InlineData(false, "qemu:dirty-bitmap:")]
    [InlineData(false, "base:other")]
    public async Task List_answers_queries_that_match(bool isThere, params string[] queries)
    {
        await using var world = NbdWorld.Of(_volume);
        var peer = await GreetAsync(world);
        await peer.SendOptionAsync(OptionCode.ListMetaContext, Bytes.Contexts("vol", queries));
        if (isThere) Assert.Equal([0, 0, 0, 0, .. "base:allocation"u8], (await peer.ReadOptionAsync()).Data);
        Assert.Equal(OptionReply.Ack, (await peer.ReadOptionAsync()).Kind);
    }

    [Theory]
    [InlineData(true, "base:allocation")]
    [InlineData(true, "x:y", "base:allocation")]
    [InlineData(false)]
    [InlineData(false, "base:")]
    [InlineData(false, "x:y")]
    public async Task Set_chooses_the_context_by_the_whole_name(bool isThere, params string[] queries)
    {
        await using var world = NbdWorld.Of(_volume);
        var peer = await GreetAsync(world);
        await peer.SendOptionAsync(OptionCode.SetMetaContext, Bytes.Contexts("vol", queries));
        if (isThere) Assert.Equal([0, 0, 0, 1, .. "base:allocation"u8], (await peer.ReadOptionAsync()).Data);
        Assert.Equal(OptionReply.Ack, (await peer.ReadOptionAsync()).Kind);
        Assert.Equal(isThere, await CanDescribeAsync(peer));
    }

    [Fact]
    public async Task Set_that_fails_takes_back_the_choice()
    {
        await using var world = NbdWorld.Of(_volume);
        var peer = await GreetAsync(world);
        await peer.SendOptionAsync(OptionCode.SetMetaContext, Bytes.Contexts("vol", "base:allocation"));
        await peer.ReadOptionAsync();
        await peer.ReadOptionAsync();
        await peer.SendOptionAsync(OptionCode.SetMetaContext, Bytes.Contexts("other", "base:allocation"));
        Assert.Equal(OptionReply.Unknown, (await peer.ReadOptionAsync()).Kind);
        Assert.False(await CanDescribeAsync(peer));
    }

    [Fact]
    public async Task Context_of_another_export_is_none_of_the_transmission()
    {
        await using var world = NbdWorld.Of(_volume);
        world.Exports.Add(new NbdExport("other", NbdWorld.SourceOf(_volume)));
        var peer = await GreetAsync(world);
        await peer.SendOptionAsync(OptionCode.SetMetaContext, Bytes.Contexts("other", "base:allocation"));
        await peer.ReadOptionAsync();
        await peer.ReadOptionAsync();
        Assert.False(await CanDescribeAsync(peer));
    }

    [Theory]
    [InlineData("")]
    [InlineData("00000003766f6c")]
    [InlineData("00000003766f6c00000001")]
    [InlineData("00000003766f6c000000010000000901")]
    [InlineData("00000003766f6c0000000007")]
    [InlineData("00000003766f6cffffffff")]
    public async Task Malformed_data_is_refused(string data)
    {
        await using var world = NbdWorld.Of(_volume);
        var peer = await GreetAsync(world);
        foreach (var option in (OptionCode[])[OptionCode.ListMetaContext, OptionCode.SetMetaContext])
        {
            await peer.SendOptionAsync(option, Convert.FromHexString(data));
            Assert.Equal(OptionReply.Invalid, (await peer.ReadOptionAsync()).Kind);
        }
    }

    private static async Task<bool> CanDescribeAsync(NbdPeer peer)
    {
        await peer.SendOptionAsync(OptionCode.Go, Bytes.Info("vol"));
        await peer.ReadOptionAsync();
        await peer.ReadOptionAsync();
        await peer.SendCommandAsync(CommandCode.BlockStatus, 0, 4096);
        return (await peer.ReadChunkAsync()).Kind == ChunkKind.BlockStatus;
    }
}
