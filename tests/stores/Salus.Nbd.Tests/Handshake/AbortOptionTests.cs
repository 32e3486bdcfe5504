namespace Salus.Nbd.Tests.Handshake;

public sealed class AbortOptionTests
{
    [Theory]
    [InlineData(0)]
    [InlineData(10)]
    public async Task Abort_is_acknowledged_and_ends_the_connection(int data)
    {
        await using var world = NbdWorld.Of(new MemoryVolume(1 << 20));
        var peer = world.Connect();
        await peer.GreetAsync();
        await peer.SendOptionAsync(OptionCode.Abort, new byte[data]);
        var answer = await peer.ReadOptionAsync();
        Assert.Equal((OptionCode.Abort, OptionReply.Ack), (answer.Option, answer.Kind));
        await peer.AssertEndAsync();
    }
}
