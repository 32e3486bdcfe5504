namespace Corfu.Simulation.Tests.Salus;

/// <summary>Histories of a volume with planted errors.</summary>
public sealed class VolumeCheckTests
{
    private readonly VolumeHistory _history = new("v", 8);
    private long _clock;

    [Fact]
    public void Reads_of_written_blocks_pass()
    {
        var mount = Mount("m1");
        Write(mount, 0, VolumeFate.Done, 1, 2);
        Read(mount, 0, 1, 2);
        Clear(mount, 1, 1);
        Read(mount, 0, 1, 0, 0);
        Assert.Empty(VolumeCheck.Check(_history));
    }

    [Fact]
    public void Stale_block_is_found()
    {
        var mount = Mount("m1");
        Write(mount, 0, VolumeFate.Done, 1);
        Write(mount, 0, VolumeFate.Done, 2);
        Read(mount, 0, 1);
        Finds(CheckerNames.Fresh);
    }

    [Fact]
    public void Read_may_show_a_write_that_is_placed_while_the_read_lasts()
    {
        var mount = Mount("m1");
        Write(mount, 0, VolumeFate.Done, 1);
        Read(mount, 0, 2);
        Write(mount, 0, VolumeFate.Done, 2);
        Finds(CheckerNames.Fresh);
        mount.Calls[1] = mount.Calls[1] with { End = mount.Calls[2].Start };
        Assert.Empty(VolumeCheck.Check(_history));
    }

    [Fact]
    public void Discarded_block_that_returns_is_found()
    {
        var mount = Mount("m1");
        Write(mount, 0, VolumeFate.Done, 1);
        Clear(mount, 0, 1);
        Read(mount, 0, 1);
        Finds(CheckerNames.Fresh);
    }

    [Theory]
    [InlineData(7)]
    [InlineData(VolumeHistory.Garbage)]
    public void Block_that_was_never_written_is_found(long value)
    {
        var mount = Mount("m1");
        Write(mount, 0, VolumeFate.Done, 1);
        Read(mount, 0, value);
        Finds(CheckerNames.Verified);
    }

    [Fact]
    public void Block_of_another_place_is_found()
    {
        var mount = Mount("m1");
        Write(mount, 0, VolumeFate.Done, 1, 2);
        Read(mount, 0, 2);
        Finds(CheckerNames.Verified);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    public void Failed_write_may_show_or_not(long value)
    {
        var mount = Mount("m1");
        Write(mount, 0, VolumeFate.Failed, 1);
        Read(mount, 0, value);
        Assert.Empty(VolumeCheck.Check(_history));
    }

    [Fact]
    public void Refused_write_that_shows_is_found()
    {
        var mount = Mount("m1");
        Write(mount, 0, VolumeFate.Refused, 1);
        Read(mount, 0, 1);
        Assert.NotEmpty(VolumeCheck.Check(_history));
    }

    [Fact]
    public void Block_that_changes_without_a_write_is_found()
    {
        var mount = Mount("m1");
        Write(mount, 0, VolumeFate.Unknown, 1);
        mount = Mount("m2");
        Read(mount, 0, 1);
        Read(mount, 0, 0);
        Finds(CheckerNames.Fresh);
    }

    [Theory]
    [InlineData(1, 0, 0)]
    [InlineData(1, 2, 0)]
    [InlineData(1, 2, 3)]
    public void Prefix_of_the_writes_behind_the_acknowledged_ones_passes(long a, long b, long c)
    {
        WriteThree();
        Read(Mount("m2"), 0, a, b, c);
        Assert.Empty(VolumeCheck.Check(_history));
    }

    [Fact]
    public void Acknowledged_write_that_is_missing_is_found()
    {
        WriteThree();
        Read(Mount("m2"), 0, 0, 0, 0);
        Finds(CheckerNames.Ordered);
    }

    [Fact]
    public void Loss_on_record_leaves_a_prefix()
    {
        WriteThree();
        var mount = Mount("m2");
        mount.MayHaveLost = true;
        Read(mount, 0, 0, 0, 0);
        Assert.Empty(VolumeCheck.Check(_history));
    }

    [Fact]
    public void Loss_on_record_may_reach_behind_the_tenure_before()
    {
        WriteThree();
        Write(Mount("m2"), 1, VolumeFate.Done, 4);
        var mount = Mount("m3");
        mount.MayHaveLost = true;
        Read(mount, 0, 1, 0, 0);
        Assert.Empty(VolumeCheck.Check(_history));
    }

    [Fact]
    public void Loss_behind_the_tenure_before_takes_all_of_that_tenure()
    {
        WriteThree();
        var second = Mount("m2");
        Read(second, 0, 1, 2, 3);
        Write(second, 1, VolumeFate.Done, 4);
        var mount = Mount("m3");
        mount.MayHaveLost = true;
        Read(mount, 0, 1, 4, 0);
        Finds(CheckerNames.Prefix);
    }

    /// <summary>Seed 196: the prefixes of each tenure were multiplied by those of the next.</summary>
    [Fact]
    public void Loss_behind_many_tenures_is_judged()
    {
        for (var tenure = 0; tenure < 10; tenure++)
        {
            var mount = Mount($"m{tenure}");
            for (var i = 0; i < 20; i++) Write(mount, i % 4, VolumeFate.Done, (tenure * 20) + i + 1);
        }

        var last = Mount("last");
        last.MayHaveLost = true;
        Read(last, 0, 61, 62, 59, 60);
        Assert.Empty(VolumeCheck.Check(_history));
    }

    [Fact]
    public void Write_without_the_one_before_is_found()
    {
        WriteThree();
        var mount = Mount("m2");
        mount.MayHaveLost = true;
        Read(mount, 0, 1, 0, 3);
        Finds(CheckerNames.Prefix);
    }

    [Fact]
    public void Half_of_a_write_is_found()
    {
        Write(Mount("m1"), 0, VolumeFate.Unknown, 1, 2);
        Read(Mount("m2"), 0, 1, 0);
        Finds(CheckerNames.Prefix);
    }

    [Fact]
    public void Unanswered_write_before_an_acknowledged_one_is_there()
    {
        var mount = Mount("m1");
        Write(mount, 0, VolumeFate.Unknown, 1);
        Write(mount, 1, VolumeFate.Done, 2);
        Read(Mount("m2"), 0, 0, 2);
        Finds(CheckerNames.Prefix);
    }

    [Fact]
    public void Writes_of_a_voided_tail_are_dropped_together()
    {
        var mount = Mount("m1");
        Write(mount, 0, VolumeFate.Failed, 1);
        Write(mount, 1, VolumeFate.Failed, 2);
        Write(mount, 2, VolumeFate.Done, 3);
        Read(Mount("m2"), 0, 1, 0, 3);
        Assert.Empty(VolumeCheck.Check(_history));
        Read(Mount("m3"), 0, 0, 2, 3);
        Assert.NotEmpty(VolumeCheck.Check(_history));
    }

    [Theory]
    [InlineData(1, 0, 0, true)]
    [InlineData(1, 2, 3, true)]
    [InlineData(1, 0, 3, false)]
    [InlineData(0, 0, 0, false)]
    public void Suffix_of_writes_acknowledged_in_order_may_be_lost(long a, long b, long c, bool passes)
    {
        var mount = Mount("m1");
        Write(mount, 0, VolumeFate.Placed, 1);
        Add(mount, VolumeAct.Flush, 0, 0, VolumeFate.Done);
        Write(mount, 1, VolumeFate.Placed, 2);
        Write(mount, 2, VolumeFate.Placed, 3);
        Read(Mount("m2"), 0, a, b, c);
        if (passes) Assert.Empty(VolumeCheck.Check(_history));
        else Assert.NotEmpty(VolumeCheck.Check(_history));
    }

    [Fact]
    public void Write_acknowledged_in_order_is_seen_by_later_reads()
    {
        var mount = Mount("m1");
        Write(mount, 0, VolumeFate.Placed, 1);
        Read(mount, 0, 0);
        Finds(CheckerNames.Fresh);
    }

    [Fact]
    public void Mounts_without_reads_leave_all_prefixes_open()
    {
        WriteThree();
        Write(Mount("m2"), 3, VolumeFate.Unknown, 4);
        Read(Mount("m3"), 0, 1, 2, 0, 4);
        Assert.Empty(VolumeCheck.Check(_history));
    }

    [Theory]
    [InlineData(1, 0, true)]
    [InlineData(1, 2, true)]
    [InlineData(0, 0, false)]
    [InlineData(0, 2, false)]
    public void Snapshot_is_the_volume_at_a_moment_of_the_call(long first, long second, bool passes)
    {
        var mount = Mount("m1");
        Write(mount, 0, VolumeFate.Done, 1);
        Write(mount, 1, VolumeFate.Done, 2);
        Write(mount, 0, VolumeFate.Done, 3);
        var snapshot = new VolumeSnapshot("s", 0, 1, 2);
        _history.Snapshots.Add(snapshot);
        snapshot.Seen.Add((0, first));
        snapshot.Seen.Add((1, second));
        if (passes) Assert.Empty(VolumeCheck.Check(_history));
        else Finds(CheckerNames.Snapshot);
    }

    [Fact]
    public void Snapshot_that_changes_is_found()
    {
        Mount("m1");
        var snapshot = new VolumeSnapshot("s", 0, 0, 0);
        _history.Snapshots.Add(snapshot);
        snapshot.Seen.Add((0, 0));
        snapshot.Seen.Add((0, 1));
        Finds(CheckerNames.Snapshot);
    }

    private void WriteThree()
    {
        var mount = Mount("m1");
        Write(mount, 0, VolumeFate.Done, 1);
        Write(mount, 1, VolumeFate.Unknown, 2);
        Write(mount, 2, VolumeFate.Unknown, 3);
    }

    private VolumeMount Mount(string name)
    {
        var mount = new VolumeMount(name);
        _history.Mounts.Add(mount);
        return mount;
    }

    private void Write(VolumeMount mount, int first, VolumeFate fate, params long[] values) =>
        Add(mount, VolumeAct.Write, first, values.Length, fate, values);

    private void Read(VolumeMount mount, int first, params long[] values) =>
        Add(mount, VolumeAct.Read, first, values.Length, VolumeFate.Done, values);

    private void Clear(VolumeMount mount, int first, int count) =>
        Add(mount, VolumeAct.Clear, first, count, VolumeFate.Done);

    private void Add(
        VolumeMount mount, VolumeAct act, int first, int count, VolumeFate fate, params long[] values) =>
        mount.Calls.Add(new VolumeCall(act, first, count, ++_clock)
        {
            End = fate == VolumeFate.Unknown ? VolumeHistory.Never : ++_clock,
            Fate = fate,
            Values = values,
        });

    private void Finds(string checker) =>
        Assert.Contains(VolumeCheck.Check(_history), found => found.Checker == checker);
}
