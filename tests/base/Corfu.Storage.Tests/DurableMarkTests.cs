namespace Corfu.Storage.Tests;

public sealed class DurableMarkTests : IDisposable
{
    private const uint LogId = 7;

    private readonly TempFolder _folder = new();

    public void Dispose() => _folder.Dispose();

    [Fact]
    public async Task Mark_survives_reopening()
    {
        await WriteAsync(LogId, 100, 200, 300);
        Assert.Equal(300, Read(LogId));
        await WriteAsync(LogId, 400);
        Assert.Equal(400, Read(LogId));
    }

    [Theory]
    [InlineData(0)]
    [InlineData(512)]
    public async Task Torn_slot_leaves_the_older_or_newer_mark(int slot)
    {
        await WriteAsync(LogId, 100, 200);
        var bytes = File.ReadAllBytes(_folder.File("mark"));
        bytes[slot + 20] ^= 1;
        File.WriteAllBytes(_folder.File("mark"), bytes);
        Assert.Equal(slot == 0 ? 200 : 100, Read(LogId));
    }

    [Fact]
    public async Task Mark_of_another_log_is_ignored()
    {
        await WriteAsync(LogId, 100);
        Assert.Equal(0, Read(LogId + 1));
    }

    /// <summary>The units' marks: the format is read by every later version.</summary>
    [Fact]
    public async Task Slot_has_the_golden_bytes()
    {
        await WriteAsync(LogId, 0x1122334455667788);
        Assert.Equal("43464D31070000008877665544332211000000000000000000000000288B6116",
            Convert.ToHexString(File.ReadAllBytes(_folder.File("mark"))));
    }

    private long Read(uint log)
    {
        using var files = new DirectorySegmentFiles(_folder.Path);
        return new DurableMark(files, log).Read();
    }

    private async Task WriteAsync(uint log, params long[] durable)
    {
        using var files = new DirectorySegmentFiles(_folder.Path);
        var mark = new DurableMark(files, log);
        mark.Read();
        foreach (var one in durable) await mark.WriteAsync(one);
    }
}
