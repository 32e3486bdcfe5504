using Corfu.Protocol;

namespace Corfu.Protocol.Tests;

public sealed class ProjectionTests
{
    private static readonly Projection Sample = SampleMessages.Projection(SampleMessages.Epoch);

    [Fact]
    public void Round_trip_gives_an_equal_projection() =>
        Assert.Equal(Sample, ProjectionCodec.Decode(ProjectionCodec.Encode(Sample)));

    /// <summary>Acceptors keep projections for years: version 1 had neither mirror nor time.</summary>
    [Fact]
    public void The_first_version_is_still_read()
    {
        var bytes = ProjectionCodec.Encode(Sample);
        byte[] old = [1, 0, .. bytes[2..18], .. bytes[42..]];
        Assert.Equal(Sample, ProjectionCodec.Decode(old));
    }

    [Fact]
    public void Mirror_names_the_source()
    {
        var source = new ClusterId(new Guid("00000000-0000-0000-0000-000000000007"));
        var mirror = new Projection(
            Sample.Cluster, Sample.Epoch, Sample.Sequencer, Sample.Start, Sample.TrimMark, Sample.Segments,
            Sample.Units, Sample.Acceptors, Sample.Reason, source);
        Assert.NotEqual(Sample, mirror);
        Assert.Equal(source, ProjectionCodec.Decode(ProjectionCodec.Encode(mirror)).MirrorOf);
    }

    [Fact]
    public void Projection_holds_the_time_of_the_proposal()
    {
        var at = DateTimeOffset.FromUnixTimeMilliseconds(1_700_000_000_123);
        var timed = new Projection(
            Sample.Cluster, Sample.Epoch, Sample.Sequencer, Sample.Start, Sample.TrimMark, Sample.Segments,
            Sample.Units, Sample.Acceptors, Sample.Reason,
            proposedAt: at.AddTicks(7));
        Assert.NotEqual(Sample, timed);
        Assert.Equal(at, timed.ProposedAt);
        Assert.Equal(timed, ProjectionCodec.Decode(ProjectionCodec.Encode(timed)));
    }

    /// <summary>The encoding is what acceptors keep and what two proposers compare: it changes only together with its
    /// version.</summary>
    [Fact]
    public void Golden_bytes()
    {
        var small = new Projection(
            new ClusterId(SampleMessages.Id(1)), new Epoch(2), SampleMessages.Node(3), new LogPosition(4),
            new LogPosition(1),
            [new Segment(LogPosition.Zero, new LogPosition(3),
                [new Chain([new Replica(SampleMessages.Units[0].Id),
                    new Replica(SampleMessages.Units[1].Id, Joining: true)])]),
             new Segment(new LogPosition(3), null, [new Chain([new Replica(SampleMessages.Units[0].Id)])])],
            [SampleMessages.Units[0], SampleMessages.Units[1]], [SampleMessages.Node(3)], "why",
            proposedAt: DateTimeOffset.FromUnixTimeMilliseconds(5));
        Assert.Equal(
            "020001000000000000000000000000000000000000000000000000000000" +
            "000000000500000000000000020000000000000003000000000000000000" +
            "000000000000090000003132372E302E302E315B1B040000000000000001" +
            "000000000000000300000077687902000000010000000000000000000000" +
            "00000000090000003132372E302E302E31591B0200000000000000000000" +
            "0000000000090000003132372E302E302E315A1B01000000030000000000" +
            "00000000000000000000090000003132372E302E302E315B1B0200000000" +
            "000000000000000100020000030003000000000000000100010000",
            Convert.ToHexString(ProjectionCodec.Encode(small)));
    }

    /// <summary>R1: modulo the chains of the segment, never relative to its first position.</summary>
    [Theory]
    [InlineData(0, 1)]
    [InlineData(10, 1)]
    [InlineData(11, 2)]
    [InlineData(100, 2)]
    [InlineData(101, 3)]
    [InlineData(102, 1)]
    public void Chain_is_position_modulo_chains(long position, int head)
    {
        var chain = Sample.ChainOf(new LogPosition(position));
        Assert.Equal(SampleMessages.Units[head - 1].Id, chain.Head);
    }

    [Fact]
    public void The_tail_is_the_last_full_replica()
    {
        var chain = Sample.ChainOf(new LogPosition(102));
        Assert.Equal(SampleMessages.Units[1].Id, chain.Tail);
        Assert.Equal(2, chain.FullCount);
    }

    [Fact]
    public void Broken_maps_are_refused()
    {
        var chain = new Chain([new Replica(SampleMessages.Units[0].Id)]);
        Projection With(Segment[] segments, NodeAddress[]? units = null, NodeAddress[]? acceptors = null,
            long start = 0) => new(
            Sample.Cluster, Epoch.First, Sample.Sequencer, new LogPosition(start), default, [.. segments],
            [.. units ?? [SampleMessages.Units[0]]], [.. acceptors ?? [SampleMessages.Node(1)]], "");

        Assert.NotNull(With([new Segment(default, null, [chain])]));
        Assert.Throws<MalformedDataException>(() => With([]));
        Assert.Throws<MalformedDataException>(() => With([new Segment(default, new LogPosition(5), [chain])]));
        Assert.Throws<MalformedDataException>(
            () =>
                With([new Segment(default, new LogPosition(5), [chain]),
                    new Segment(new LogPosition(6), null, [chain])], start: 6));
        Assert.Throws<MalformedDataException>(
            () => With([new Segment(default, null, [new Chain([new Replica(SampleMessages.Units[1].Id)])])]));
        Assert.Throws<MalformedDataException>(
            () => With([new Segment(default, null, [new Chain([new Replica(SampleMessages.Units[0].Id, true)])])]));
        Assert.Throws<MalformedDataException>(
            () =>
                With(
                    [new Segment(default, null,
                        [new Chain([new Replica(SampleMessages.Units[0].Id),
                            new Replica(SampleMessages.Units[0].Id)])])]));
        Assert.Throws<MalformedDataException>(
            () => With([new Segment(default, null, [chain])],
                acceptors: [SampleMessages.Node(1), SampleMessages.Node(2)]));
        Assert.Throws<MalformedDataException>(
            () =>
                With([new Segment(default, new LogPosition(5), [chain]),
                    new Segment(new LogPosition(5), null, [chain])], start: 4));
    }

    /// <summary>The size that issue after issue must keep small: three units, three chains.</summary>
    [Fact]
    public void A_small_cluster_is_a_few_hundred_bytes() =>
        Assert.InRange(ProjectionCodec.Encode(Sample).Length, 100, 600);
}
