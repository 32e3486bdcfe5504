using Corfu.Protocol;

namespace Corfu.Sequencer.Tests;

/// <summary>A mirror's tail is its copier's word (TOCS 3.1: snapshots and mirroring by copying growing prefixes of the
/// log).</summary>
public sealed class MirrorTests
{
    private static readonly ClusterId Source = new(new Guid("c0000000-0000-0000-0000-000000000002"));

    private static SequencerCore Mirror(long epoch, long start)
    {
        var core = new SequencerCore(Setup.Self);
        Assert.Equal(Status.Ok,
            core.Handle(new BootstrapRequest(Setup.Projection(epoch, start, mirrorOf: Source))).Status);
        return core;
    }

    private static TailResponse Advance(SequencerCore core, long from, long to,
        params (long Position, ulong Stream)[] entries) =>
        (TailResponse)core.Handle(new AdvanceRequest(
            core.Epoch, new LogPosition(from), new LogPosition(to),
            [.. entries.Select(e => new AdvancedEntry(new LogPosition(e.Position), Setup.Ids(e.Stream)))]));

    [Fact]
    public void Mirror_grants_no_position()
    {
        var core = Mirror(2, 0);
        Assert.Equal(Status.Mirror, core.Token(1, 300).Status);
        Assert.Equal(LogPosition.Zero, core.TailOf().Tail);
    }

    [Fact]
    public void The_tail_and_the_streams_rise_by_the_copiers_word()
    {
        var core = Mirror(2, 0);
        Assert.Equal(Status.Ok, Advance(core, 0, 10, (3, 300), (5, 301), (7, 300)).Status);
        var tail = core.TailOf(300, 301);
        Assert.Equal(10, tail.Tail.Offset);
        Assert.Equal([7, 3], tail.Tails[0].Offsets());
        Assert.Equal([5], tail.Tails[1].Offsets());
    }

    [Fact]
    public void Advance_repeated_is_passed_over()
    {
        var core = Mirror(2, 0);
        Advance(core, 0, 10, (3, 300));
        Assert.Equal(Status.Ok, Advance(core, 0, 12, (3, 300), (11, 300)).Status);
        Assert.Equal([11, 3], core.TailOf(300).Tails[0].Offsets());
    }

    [Fact]
    public void Advance_that_skips_positions_is_refused()
    {
        var core = Mirror(2, 0);
        Assert.Equal(Status.Conflict, Advance(core, 5, 10).Status);
        Assert.Equal(LogPosition.Zero, core.TailOf().Tail);
    }

    /// <summary>Below the start of an epoch there may be positions that the copier has still to complete: no reader may
    /// see a tail above them.</summary>
    [Fact]
    public void New_epoch_waits_for_the_advance_that_includes_the_start()
    {
        var core = Mirror(3, 20);
        Assert.Equal(Status.Unready, core.TailOf().Status);
        Assert.Equal(Status.Unready, core.Load(300, 8));
        Assert.Equal(Status.Conflict, Advance(core, 10, 19).Status);
        Assert.Equal(Status.Unready, core.TailOf().Status);
        Assert.Equal(Status.Ok, Advance(core, 10, 20).Status);
        Assert.Equal(20, core.TailOf().Tail.Offset);
    }

    [Fact]
    public void Streams_below_the_start_are_handed_over_first()
    {
        var core = Mirror(3, 20);
        var unknown = Advance(core, 10, 25, (22, 300));
        Assert.Equal(Status.UnknownStream, unknown.Status);
        Assert.Equal(Setup.Ids(300), unknown.Unknown);
        Assert.Equal(Status.Ok, core.Load(300, 8));
        Assert.Equal(Status.Ok, Advance(core, 10, 25, (22, 300)).Status);
        Assert.Equal([22, 8], core.TailOf(300).Tails[0].Offsets());
    }

    [Fact]
    public void Only_a_mirror_is_advanced() => Assert.Equal(Status.BadRequest, Advance(Setup.Started(), 0, 5).Status);
}
