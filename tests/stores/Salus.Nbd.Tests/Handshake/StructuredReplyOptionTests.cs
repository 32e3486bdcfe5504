namespace Salus.Nbd.Tests.Handshake;

public sealed class StructuredReplyOptionTests
{
    [Fact]
    public async Task Reads_are_answered_in_chunks_after_the_option()
    {
        await using var world = NbdWorld.Of(new MemoryVolume(1 << 20));
        var peer = await world.AttachAsync(isStructured: true);
        await peer.SendCommandAsync(CommandCode.Read, 0, 512, cookie: 9);
        var chunk = await peer.ReadChunkAsync();
        Assert.Equal((9ul, ChunkKind.OffsetHole, true), (chunk.Cookie, chunk.Kind, chunk.IsLast));
    }

    [Fact]
    public async Task Reads_have_simple_replies_without_the_option()
    {
        await using var world = NbdWorld.Of(new MemoryVolume(1 << 20));
        var peer = await world.AttachAsync(isStructured: false);
        await peer.SendCommandAsync(CommandCode.Read, 0, 512, cookie: 9);
        var answer = await peer.ReadSimpleAsync(512);
        Assert.Equal((9ul, NbdError.None), (answer.Cookie, answer.Error));
    }

    [Fact]
    public async Task Option_with_data_is_refused_and_changes_no_reply()
    {
        await using var world = NbdWorld.Of(new MemoryVolume(1 << 20));
        var peer = world.Connect();
        await peer.GreetAsync();
        await peer.SendOptionAsync(OptionCode.StructuredReply, [1]);
        Assert.Equal(OptionReply.Invalid, (await peer.ReadOptionAsync()).Kind);
        await peer.SendOptionAsync(OptionCode.SetMetaContext, Bytes.Contexts("vol", "base:allocation"));
        Assert.Equal(OptionReply.Invalid, (await peer.ReadOptionAsync()).Kind);
    }
}
