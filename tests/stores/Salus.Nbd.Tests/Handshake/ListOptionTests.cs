namespace Salus.Nbd.Tests.Handshake;

public sealed class ListOptionTests
{
    [Fact]
    public async Task List_names_all_exports_with_descriptions()
    {
        var source = NbdWorld.SourceOf(new MemoryVolume(1 << 20));
        await using var world = new NbdWorld(exports:
        [
            new NbdExport("zebra", source, "stripes"), new NbdExport("vol@snap", source), new NbdExport("ä", source),
        ]);
        var peer = world.Connect();
        await peer.GreetAsync();
        await peer.SendOptionAsync(OptionCode.List, []);
        foreach (var expected in (byte[][])
            [
                [0, 0, 0, 8, .. "vol@snap"u8], [0, 0, 0, 5, .. "zebrastripes"u8], [0, 0, 0, 2, .. "ä"u8],
            ])
        {
            var answer = await peer.ReadOptionAsync();
            Assert.Equal(OptionReply.Server, answer.Kind);
            Assert.Equal(expected, answer.Data);
        }

        Assert.Equal(OptionReply.Ack, (await peer.ReadOptionAsync()).Kind);
    }

    [Fact]
    public async Task List_with_data_is_refused()
    {
        await using var world = NbdWorld.Of(new MemoryVolume(1 << 20));
        var peer = world.Connect();
        await peer.GreetAsync();
        await peer.SendOptionAsync(OptionCode.List, [0]);
        Assert.Equal(OptionReply.Invalid, (await peer.ReadOptionAsync()).Kind);
        await peer.SendOptionAsync(OptionCode.List, []);
        Assert.Equal(OptionReply.Server, (await peer.ReadOptionAsync()).Kind);
    }

    [Fact]
    public async Task Removed_export_is_listed_no_more()
    {
        await using var world = NbdWorld.Of(new MemoryVolume(1 << 20));
        Assert.True(await world.Exports.RemoveAsync("vol"));
        var peer = world.Connect();
        await peer.GreetAsync();
        await peer.SendOptionAsync(OptionCode.List, []);
        Assert.Equal(OptionReply.Ack, (await peer.ReadOptionAsync()).Kind);
    }
}
