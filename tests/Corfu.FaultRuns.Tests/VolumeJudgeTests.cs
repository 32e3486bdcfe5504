using Corfu.FaultRuns.Volumes.Clients;
using Corfu.FaultRuns.Volumes.Faults;
using Corfu.FaultRuns.Volumes.Judging;

namespace Corfu.FaultRuns.Tests;

/// <summary>The judge of a volume's mounts finds each of the faults that it looks for.</summary>
public sealed class VolumeJudgeTests
{
    private const string First = "mounted\nwrite 1 5 2\ndone 1\nclear 2 5 1\ndone 2\nwrite 3 7 1\n";

    [Theory]
    [InlineData("found 6 1\nmounted\n")]
    [InlineData("found 6 1\nfound 7 3\nmounted\n")]
    public void Prefix_with_all_acknowledged_writes_is_good(string found) => Judge("yes", 0, First, found);

    [Fact]
    public void Acknowledged_write_behind_the_prefix_is_lost() =>
        Judge("yes", 1, First, "found 5 1\nfound 6 1\nmounted\n");

    [Theory]
    [InlineData("found 7 3\nmounted\n")]
    [InlineData("found 5 1\nmounted\n")]
    [InlineData("found 6 1\nfound 9 4\nmounted\n")]
    public void Content_of_no_prefix_is_found(string found) => Judge("no", 0, First, found);

    [Fact]
    public void Mount_killed_early_changes_no_content() =>
        Judge("yes", 0, First, "found 6 1\nfoun", "found 6 1\nmounted\nwrite 9 6 1\ndone 9\n", "found 6 9\nmounted\n");

    [Fact]
    public void Refused_write_is_part_of_no_prefix() =>
        Judge("yes", 0, "mounted\nwrite 1 1 1\nrefused 1\nwrite 2 2 1\ndone 2\n", "found 2 2\nmounted\n");

    [Fact]
    public void Wrong_read_counts()
    {
        var verdict = VolumeVerdict.Of([VolumeLife.Of("mounted\nreads 7\nwrong block 3: a read returns write 2\n")]);
        Assert.False(verdict.IsGood);
        Assert.Single(verdict.Wrong);
        Assert.Equal(7, verdict.Gets);
    }

    [Fact]
    public void Block_tells_the_write_and_a_torn_block_tells_none()
    {
        var block = new byte[BlockText.Size];
        Assert.Equal(0, BlockText.Read(block, 3));
        BlockText.Write(block, 12, 3);
        Assert.Equal(12, BlockText.Read(block, 3));
        Assert.Null(BlockText.Read(block, 4));
        block[BlockText.Size - 1] ^= 1;
        Assert.Null(BlockText.Read(block, 3));
        block.AsSpan(0, 16).Clear();
        Assert.Null(BlockText.Read(block, 3));
    }

    [Fact]
    public void Plan_has_each_kind_in_a_round_and_repeats_by_seed()
    {
        var kinds = Enum.GetValues<VolumeFaultKind>();
        var round = PlannedVolumeFault.Plan(4, 5, kinds).Take(kinds.Length).ToList();
        Assert.Equal(kinds.Order(), round.Select(fault => fault.Kind).Order());
        Assert.Equal(round, PlannedVolumeFault.Plan(4, 5, kinds).Take(kinds.Length));
        Assert.All(round, fault => Assert.NotEqual(fault.Node, fault.Other));
    }

    private static void Judge(string prefix, int lost, params string[] lives)
    {
        var verdict = VolumeVerdict.Of([.. lives.Select(VolumeLife.Of)]);
        Assert.Equal($"wrong=0 lost_after_ack={lost} prefix={prefix}", verdict.ToString());
        Assert.Equal(lost == 0 && prefix == "yes", verdict.IsGood);
    }
}
