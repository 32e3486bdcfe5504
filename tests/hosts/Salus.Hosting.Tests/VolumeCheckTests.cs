using Salus.NbdHost;

namespace Salus.Hosting.Tests;

public sealed class VolumeCheckTests
{
    private const int Block = 4096;

    [Fact]
    public async Task Check_reads_blocks_in_use_alone()
    {
        await using var volume = new MemoryVolume(64 << 20, Block);
        await volume.WriteAsync(3, new byte[2 * Block], durable: true);
        await volume.WriteAsync(10_000, new byte[300 * Block], durable: true);
        var verdict = await VolumeCheck.RunAsync(volume);
        Assert.Equal((16_384, 302), (verdict.Blocks, verdict.Verified));
        Assert.Empty(verdict.Damaged);
        var read = volume.Calls.Where(call => call.Verb == VolumeVerb.Read).ToList();
        Assert.Equal(302, read.Sum(call => call.Blocks));
    }

    [Fact]
    public async Task Check_names_each_damaged_block_and_verifies_the_rest()
    {
        await using var volume = new MemoryVolume(64 << 20, Block)
        {
            Refuse = call => call.Verb == VolumeVerb.Read
                && (Covers(call, 17) || Covers(call, 300))
                ? new VolumeException(VolumeFault.Unverifiable, "no copy is right")
                : null,
        };
        await volume.WriteAsync(0, new byte[512 * Block], durable: true);
        var verdict = await VolumeCheck.RunAsync(volume);
        Assert.Equal([17, 300], verdict.Damaged);
        Assert.Equal(510, verdict.Verified);
    }

    [Fact]
    public async Task Check_ends_when_the_volume_cannot_be_read_any_further()
    {
        await using var volume = new MemoryVolume(1 << 20, Block)
        {
            Refuse = call => call.Verb == VolumeVerb.Read
                ? new VolumeException(VolumeFault.Unavailable, "no store answers")
                : null,
        };
        await volume.WriteAsync(0, new byte[Block], durable: true);
        var fault = await Assert.ThrowsAsync<VolumeException>(() => VolumeCheck.RunAsync(volume));
        Assert.Equal(VolumeFault.Unavailable, fault.Fault);
    }

    private static bool Covers(VolumeCall call, long block) => call.First <= block && block < call.First + call.Blocks;
}
