using System.Text;

namespace Salus.Nbd.Tests.Handshake;

public sealed class ExportNameOptionTests
{
    private readonly MemoryVolume _volume = new(1 << 20);

    // HAS_FLAGS, FLUSH, FUA, TRIM, WRITE_ZEROES, CAN_MULTI_CONN, CACHE, FAST_ZERO.
    private static byte[] Answer => [.. Bytes.U64(1 << 20), .. Bytes.U16(1 | 4 | 8 | 32 | 64 | 256 | 1024 | 2048)];

    [Theory]
    [InlineData("vol", 3u, 0)]
    [InlineData("vol", 1u, 124)]
    [InlineData("vol", 0u, 124)]
    [InlineData("", 2u, 0)]
    public async Task Known_name_begins_the_transmission(string name, uint flags, int zeroes)
    {
        await using var world = NbdWorld.Of(_volume);
        var peer = world.Connect();
        await peer.GreetAsync(flags);
        await peer.SendOptionAsync(OptionCode.ExportName, Encoding.UTF8.GetBytes(name));
        Assert.Equal(Answer, await peer.ReadAsync(10));
        Assert.Equal(new byte[zeroes], await peer.ReadAsync(zeroes));
        await peer.SendCommandAsync(CommandCode.Read, 0, 512);
        Assert.Equal(new byte[512], (await peer.ReadSimpleAsync(512)).Data);
    }

    [Theory]
    [InlineData("other")]
    [InlineData("vol/")]
    public async Task Unknown_name_closes_the_connection(string name)
    {
        await using var world = NbdWorld.Of(_volume);
        var peer = world.Connect();
        await peer.GreetAsync();
        await peer.SendOptionAsync(OptionCode.ExportName, Encoding.UTF8.GetBytes(name));
        await peer.AssertEndAsync();
    }

    [Fact]
    public async Task Name_that_is_no_text_closes_the_connection()
    {
        await using var world = NbdWorld.Of(_volume);
        var peer = world.Connect();
        await peer.GreetAsync();
        await peer.SendOptionAsync(OptionCode.ExportName, [0xff, 0xfe]);
        await peer.AssertEndAsync();
    }

    [Fact]
    public async Task Volume_that_cannot_be_mounted_closes_the_connection()
    {
        await using var world = new NbdWorld(exports: new NbdExport("vol", new MemorySource(1 << 20, 4096, false,
            _ => throw new VolumeException(VolumeFault.Unavailable, "the stores are away"))));
        var peer = world.Connect();
        await peer.GreetAsync();
        await peer.SendOptionAsync(OptionCode.ExportName, "vol"u8.ToArray());
        await peer.AssertEndAsync();
    }
}
