using System.Collections.Immutable;
using Corfu.Protocol;

namespace Corfu.Sequencer.Tests;

internal static class Setup
{
    public static readonly NodeId Self = new(new Guid("5e900000-0000-0000-0000-000000000001"));

    public static Projection Projection(long epoch, long start, NodeId? sequencer = null, string reason = "test",
        ClusterId mirrorOf = default, ClusterId? cluster = null)
    {
        var unit = new NodeAddress(new NodeId(new Guid("a0000000-0000-0000-0000-000000000001")),
            new NodeEndpoint("u", 1));
        return new Projection(
            cluster ?? new ClusterId(new Guid("c0000000-0000-0000-0000-000000000001")),
            new Epoch(epoch),
            new NodeAddress(sequencer ?? Self, new NodeEndpoint("s", 1)),
            new LogPosition(start),
            LogPosition.Zero,
            [new Segment(LogPosition.Zero, null, [new Chain([new Replica(unit.Id)])])],
            [unit],
            [unit],
            reason,
            mirrorOf);
    }

    public static SequencerCore Started(long epoch = 1, long start = 0, SequencerOptions? options = null)
    {
        var core = new SequencerCore(Self, options);
        Assert.Equal(Status.Ok, core.Bootstrap(epoch, start));
        return core;
    }

    public static Status Bootstrap(this SequencerCore core, long epoch, long start, NodeId? sequencer = null,
        string reason = "test") =>
        core.Handle(new BootstrapRequest(Projection(epoch, start, sequencer, reason))).Status;

    public static TokenResponse Token(this SequencerCore core, int count = 1, params ulong[] streams) =>
        core.TokenAt(core.Epoch.Value, count, 0, streams);

    public static TokenResponse TokenAt(this SequencerCore core, long epoch, int count, ushort grace,
        params ulong[] streams) =>
        (TokenResponse)core.Handle(new TokenRequest(new Epoch(epoch), count, Ids(streams), grace));

    public static TokenResponse Ask(
        this SequencerCore core, ulong[] streams, params ImmutableArray<Declaration> declarations) =>
        (TokenResponse)core.Handle(
            new TokenRequest(core.Epoch, declarations.Length, Ids(streams)) { Declarations = declarations });

    /// <summary>An entry of the streams that its records write.</summary>
    public static Ruling Decide(this SequencerCore core, params ImmutableArray<DeclaredRecord> records)
    {
        ulong[] streams = [.. records.SelectMany(r => r.Writes).Select(w => w.Stream.Value).Distinct()];
        return core.Ask(streams, new Declaration(records)).Rulings.Single();
    }

    public static void Grant(this SequencerCore core, DeclaredRecord record) =>
        Assert.Equal(Ruling.Granted, core.Decide(record));

    public static TailResponse TailOf(this SequencerCore core, params ulong[] streams) =>
        (TailResponse)core.Handle(new TailRequest(core.Epoch, Ids(streams)));

    public static Status Load(this SequencerCore core, ulong stream, params long[] positions) =>
        core.Handle(new LoadStreamsRequest(core.Epoch, [Tail(stream, positions)])).Status;

    public static ImmutableArray<Grant> Grants(this SequencerCore core, params long[] positions) =>
        ((GrantsResponse)core.Handle(new GrantsRequest(core.Epoch,
            [.. positions.Select(p => new LogPosition(p))]))).Grants;

    public static ImmutableArray<StreamId> Ids(params ulong[] streams) => [.. streams.Select(s => new StreamId(s))];

    public static StreamTail Tail(ulong stream, params long[] positions) =>
        new(new StreamId(stream), [.. positions.Select(p => new LogPosition(p))]);

    public static long[] Offsets(this StreamTail tail) => [.. tail.Positions.Select(p => p.Offset)];
}
