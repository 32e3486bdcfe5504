namespace Craq.Hosting.Tests.Memcached;

/// <summary>Commands that disturb other clients: nodes of their own.</summary>
public sealed class MemcachedPortTests(MemcachedNodes nodes) : IClassFixture<MemcachedNodes>
{
    [Theory]
    [InlineData(0x08, false, true)]
    [InlineData(0x08, false, false)]
    [InlineData(0x18, true, true)]
    [InlineData(0x18, true, false)]
    public async Task Flush_clears_all_objects(byte opcode, bool isQuiet, bool hasExtras)
    {
        using var connection = await nodes.ConnectAsync();
        for (var i = 0; i < 20; i++) await connection.CallAsync(BinaryFrame.Store(0x01, $"f{i}", "v"));
        var frame = BinaryFrame.Of(opcode, extras: new byte[hasExtras ? 4 : 0]);
        if (isQuiet) await connection.QuietAsync(frame);
        else Assert.True(await connection.CallAsync(frame) is { Status: 0, IsEmpty: true, Version: 0 });
        for (var i = 0; i < 20; i++)
            Assert.Equal(1, (await connection.CallAsync(BinaryFrame.Of(0x00, $"f{i}"))).Status);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public async Task Port_takes_any_bytes_in_either_protocol(int seed)
    {
        var random = new Random(seed);
        for (var run = 0; run < 60; run++)
        {
            using var connection = await nodes.ConnectAsync();
            byte[] bytes = run % 2 == 0 ? AnyBytes.Binary(random) : AnyBytes.Text(random);
            await connection.SendAsync(bytes);
            try
            {
                await connection.DrainAsync();
            }
            catch (IOException)
            {
                // The server closed before it had read all: a reset is an end, too.
            }
        }

        using var good = await nodes.ConnectAsync();
        Assert.Equal(0, (await good.CallAsync(BinaryFrame.Store(0x01, "good", "v"))).Status);
        Assert.Equal("v", (await good.CallAsync(BinaryFrame.Of(0x00, "good"))).Text);
    }
}
