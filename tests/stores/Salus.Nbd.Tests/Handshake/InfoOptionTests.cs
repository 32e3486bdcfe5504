namespace Salus.Nbd.Tests.Handshake;

public sealed class InfoOptionTests
{
    private readonly MemoryVolume _volume = new(1 << 20);

    private static async Task<NbdPeer> GreetAsync(NbdWorld world)
    {
        var peer = world.Connect();
        await peer.GreetAsync();
        return peer;
    }

    [Fact]
    public async Task Info_answers_requests_and_begins_no_transmission()
    {
        await using var world = new NbdWorld(
            exports: new NbdExport("vol", NbdWorld.SourceOf(_volume), "a description"));
        var peer = await GreetAsync(world);
        // Request 77 is unknown, and ignored.
        await peer.SendOptionAsync(OptionCode.Info, Bytes.Info("", 1, 2, 3, 77));
        byte[][] expected =
        [
            [0, 0, .. Bytes.U64(1 << 20), .. Bytes.U16(0xd6d)], [0, 1, .. "vol"u8], [0, 2, .. "a description"u8],
            [0, 3, .. Bytes.U32(1), .. Bytes.U32(4096), .. Bytes.U32(32 << 20)],
        ];
        foreach (var data in expected)
        {
            var answer = await peer.ReadOptionAsync();
            Assert.Equal((OptionCode.Info, OptionReply.Info), (answer.Option, answer.Kind));
            Assert.Equal(data, answer.Data);
        }

        Assert.Equal(OptionReply.Ack, (await peer.ReadOptionAsync()).Kind);
        await peer.SendOptionAsync(OptionCode.Info, Bytes.Info("vol"));
        Assert.Equal(OptionReply.Info, (await peer.ReadOptionAsync()).Kind);
    }

    [Theory]
    [InlineData(false, false, 0xd6d)]
    [InlineData(false, true, 0xded)]
    [InlineData(true, false, 0x50f)]
    [InlineData(true, true, 0x58f)]
    public async Task Flags_tell_the_properties_of_the_export(bool isReadOnly, bool isStructured, int flags)
    {
        var volume = new MemoryVolume(1 << 20) { IsReadOnly = isReadOnly };
        await using var world = NbdWorld.Of(volume);
        var peer = await GreetAsync(world);
        if (isStructured)
        {
            await peer.SendOptionAsync(OptionCode.StructuredReply, []);
            await peer.ReadOptionAsync();
        }

        await peer.SendOptionAsync(OptionCode.Info, Bytes.Info("vol"));
        Assert.Equal(Bytes.U16(flags), (await peer.ReadOptionAsync()).Data[10..]);
    }

    [Theory]
    [InlineData(6)]
    [InlineData(7)]
    public async Task Unknown_export_is_refused_and_another_may_be_named(int option)
    {
        await using var world = NbdWorld.Of(_volume);
        var peer = await GreetAsync(world);
        await peer.SendOptionAsync((OptionCode)option, Bytes.Info("other"));
        Assert.Equal(OptionReply.Unknown, (await peer.ReadOptionAsync()).Kind);
        await peer.SendOptionAsync((OptionCode)option, Bytes.Info("vol"));
        Assert.Equal(OptionReply.Info, (await peer.ReadOptionAsync()).Kind);
    }

    [Fact]
    public async Task No_name_means_the_only_volume_that_can_be_written()
    {
        var snapshot = new MemoryVolume(1 << 19) { IsReadOnly = true };
        await using var world = new NbdWorld(exports:
            [new NbdExport("vol", NbdWorld.SourceOf(_volume)), new NbdExport("vol@a", NbdWorld.SourceOf(snapshot))]);
        var peer = await GreetAsync(world);
        await peer.SendOptionAsync(OptionCode.Info, Bytes.Info(""));
        Assert.Equal(Bytes.U64(1 << 20), (await peer.ReadOptionAsync()).Data[2..10]);
        await peer.ReadOptionAsync();
        world.Exports.Add(new NbdExport("vol2", NbdWorld.SourceOf(_volume)));
        await peer.SendOptionAsync(OptionCode.Info, Bytes.Info(""));
        Assert.Equal(OptionReply.Unknown, (await peer.ReadOptionAsync()).Kind);
    }

    [Theory]
    [InlineData("")]
    [InlineData("00000001")]
    [InlineData("000000090102030000")]
    [InlineData("ffffffff0000")]
    [InlineData("000000000001")]
    [InlineData("00000000000000")]
    [InlineData("00000001ff0000")]
    public async Task Malformed_data_is_refused_and_the_next_option_answered(string data)
    {
        await using var world = NbdWorld.Of(_volume);
        var peer = await GreetAsync(world);
        foreach (var option in (OptionCode[])[OptionCode.Info, OptionCode.Go])
        {
            await peer.SendOptionAsync(option, Convert.FromHexString(data));
            Assert.Equal(OptionReply.Invalid, (await peer.ReadOptionAsync()).Kind);
        }

        await peer.SendOptionAsync(OptionCode.Info, Bytes.Info("vol"));
        Assert.Equal(OptionReply.Info, (await peer.ReadOptionAsync()).Kind);
    }

    [Theory]
    [InlineData(5, 6u)]
    [InlineData(3, 7u)]
    public async Task Volume_that_cannot_be_mounted_is_refused_with_the_reason(int fault, uint error)
    {
        var failure = new VolumeException((VolumeFault)fault, "the stores are away");
        var source = new MemorySource(
            1 << 20, 4096, false, _ => failure is { } e ? throw e : Task.FromResult<IVolume>(_volume));
        await using var world = new NbdWorld(exports: new NbdExport("vol", source));
        var peer = await GreetAsync(world);
        await peer.SendOptionAsync(OptionCode.Go, Bytes.Info("vol"));
        var answer = await peer.ReadOptionAsync();
        Assert.Equal(((OptionReply)((1u << 31) + error), "the stores are away"), (answer.Kind, answer.Text));
        failure = null;
        await peer.SendOptionAsync(OptionCode.Go, Bytes.Info("vol"));
        Assert.Equal(OptionReply.Info, (await peer.ReadOptionAsync()).Kind);
    }

    [Fact]
    public async Task Volume_that_is_not_mounted_in_time_is_refused_and_mounted_for_the_next_client()
    {
        var mounted = new TaskCompletionSource<IVolume>();
        var source = new MemorySource(1 << 20, 4096, false, _ => mounted.Task);
        await using var world = new NbdWorld(exports: new NbdExport("vol", source));
        var peer = await GreetAsync(world);
        await peer.SendOptionAsync(OptionCode.Go, Bytes.Info("vol"));
        while (source.Mounts == 0) await Task.Delay(5);
        // The limit of the negotiation does not run meanwhile.
        world.Time.Advance(TimeSpan.FromSeconds(29));
        Assert.False(peer.HasAnswer);
        world.Time.Advance(TimeSpan.FromSeconds(2));
        Assert.Contains("30 s", (await peer.ReadOptionAsync()).Text, StringComparison.Ordinal);
        await peer.SendOptionAsync(OptionCode.Go, Bytes.Info("vol"));
        mounted.SetResult(_volume);
        Assert.Equal(OptionReply.Info, (await peer.ReadOptionAsync()).Kind);
        Assert.Equal(1, source.Mounts);
    }
}
