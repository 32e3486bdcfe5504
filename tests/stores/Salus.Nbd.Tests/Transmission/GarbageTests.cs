namespace Salus.Nbd.Tests.Transmission;

/// <summary>Bytes that no client sends. Every connection ends, and the server goes on.</summary>
public sealed class GarbageTests
{
    private readonly MemoryVolume _volume = new(1 << 20);

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    [InlineData(4)]
    public async Task Random_negotiation_ends(int seed)
    {
        await using var world = NbdWorld.Of(_volume);
        var chance = new Random(seed);
        for (var round = 0; round < 100; round++)
        {
            var peer = world.Connect();
            await peer.GreetAsync(chance.Next(3) == 0 ? (uint)chance.Next() : 3u);
            for (var i = chance.Next(1, 6); i > 0 && !peer.Serving.IsCompleted; i--)
                await TrySendAsync(peer, RandomOption(chance));
            await peer.CloseAsync();
            await peer.Serving.WaitAsync(TimeSpan.FromSeconds(20));
        }

        var client = await world.AttachAsync();
        Assert.Equal(NbdError.None, await client.WriteAsync(0, new byte[512]));
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    [InlineData(4)]
    public async Task Random_transmission_ends(int seed)
    {
        await using var world = NbdWorld.Of(_volume);
        var chance = new Random(seed);
        for (var round = 0; round < 100; round++)
        {
            var peer = await world.AttachAsync(isStructured: chance.Next(2) == 0);
            for (var i = chance.Next(1, 20); i > 0 && !peer.Serving.IsCompleted; i--)
                await TrySendAsync(peer, RandomCommand(chance));
            await peer.CloseAsync();
            await peer.Serving.WaitAsync(TimeSpan.FromSeconds(20));
        }

        var client = await world.AttachAsync();
        Assert.Equal(NbdError.None, await client.WriteAsync(0, new byte[512]));
        Assert.Equal(new byte[512], await client.ReadDataAsync(0, 512));
    }

    // The server may have closed before it had read all: the pipe stays full.
    private static async Task TrySendAsync(NbdPeer peer, byte[] bytes)
    {
        for (var sent = 0; sent < bytes.Length && !peer.Serving.IsCompleted; sent += 1000)
            await peer.SendAsync(bytes.AsMemory(sent, Math.Min(1000, bytes.Length - sent)));
    }

    private static byte[] RandomOption(Random chance)
    {
        var data = RandomBytes(chance, chance.Next(40));
        return chance.Next(6) switch
        {
            0 => RandomBytes(chance, chance.Next(1, 60)),
            1 => Bytes.Option((uint)chance.Next(12), Bytes.Info("vol", (ushort)chance.Next(5))),
            2 => Bytes.Option((uint)chance.Next(12), Bytes.Contexts("vol", "base:allocation", "x:y")),
            3 => [.. "IHAVEOPT"u8, .. Bytes.U32((uint)chance.Next(12)), .. Bytes.U32((uint)chance.Next()), .. data],
            _ => Bytes.Option((uint)chance.Next(12), data),
        };
    }

    private static byte[] RandomCommand(Random chance)
    {
        var code = (CommandCode)chance.Next(10);
        var length = chance.Next(4) == 0 ? (uint)chance.Next() : (uint)chance.Next(1, 20_000);
        var offset = chance.Next(8) == 0 ? (ulong)chance.NextInt64() : (ulong)chance.Next(1 << 20);
        var flags = (CommandFlags)(chance.Next(3) == 0 ? chance.Next(64) : 0);
        if (chance.Next(20) == 0) return RandomBytes(chance, chance.Next(1, 60));
        var payload = code == CommandCode.Write ? RandomBytes(chance, (int)Math.Min(length, 20_000)) : [];
        return [.. Bytes.Command(code, offset, length, (ulong)chance.NextInt64(), flags), .. payload];
    }

    private static byte[] RandomBytes(Random chance, int count)
    {
        var bytes = new byte[count];
        chance.NextBytes(bytes);
        return bytes;
    }
}
