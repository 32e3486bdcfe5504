using System.Collections.Immutable;
using Corfu.ModelCheck.Checks;
using Corfu.ModelCheck.Engine;
using Corfu.ModelCheck.Nodes;
using Corfu.ModelCheck.Processes;
using Corfu.Protocol;

namespace Corfu.ModelCheck;

/// <summary>The searches: each answers a question about reconfiguration or repair, small enough for every
/// interleaving.</summary>
public static class Scenarios
{
    private static readonly ImmutableArray<NodeAddress> s_one = [Names.At(Names.Acceptor(1))];
    private static readonly ImmutableArray<NodeAddress> s_three =
        [.. Enumerable.Range(1, 3).Select(i => Names.At(Names.Acceptor(i)))];

    /// <summary>All of them, with this mistake made by the processes.</summary>
    public static ImmutableArray<Scenario> All(Flaw flaw = Flaw.None) =>
    [
        Replace(flaw), Remove(flaw), TwoChains(flaw), Streams(flaw), Checks(flaw), Rebuild(flaw), RebuildTwice(flaw),
        Resolve(flaw), Layout(flaw),
    ];

    private static Scenario Replace(Flaw flaw)
    {
        var first = First(s_one, Projections.Chain(0, 1));
        return New(
            "replace", "two appenders; one reconfigurer replaces the sequencer, one removes the head", first, 2, 2,
            [
                Appender('A', first, flaw, 1), Appender('B', first, flaw, 0),
                Reconfigurer('R', first, flaw, Sequence(2)), Reconfigurer('S', first, flaw, Remove(0)),
            ]);
    }

    private static Scenario Remove(Flaw flaw)
    {
        var first = First(s_one, Projections.Chain(0, 1));
        return New(
            "remove",
            "an appender and a reader that closes holes; two reconfigurers remove a unit each, and only one can", first,
            2, 1,
            [
                Appender('A', first, flaw, 1), Reader('B', first, flaw, 0, 1),
                Reconfigurer('R', first, flaw, Remove(0)), Reconfigurer('S', first, flaw, Remove(1)),
            ]);
    }

    private static Scenario TwoChains(Flaw flaw)
    {
        var first = First(s_one, Projections.Chain(0, 1), Projections.Chain(1, 2));
        return New(
            "two-chains", "two chains over three units; the unit in both is removed while the sequencer is replaced",
            first, 3, 2,
            [
                Appender('A', first, flaw, 0), Appender('B', first, flaw, 0),
                Reconfigurer('R', first, flaw, Remove(1)), Reconfigurer('S', first, flaw, Sequence(2)),
            ]);
    }

    private static Scenario Streams(Flaw flaw)
    {
        var first = First(s_one, Projections.Chain(0, 1));
        return New(
            "streams", "a stream's tail is handed over to the next sequencer, from what the units hold", first, 2, 2,
            [
                Appender('A', first, flaw, 0) with { Streams = true },
                Appender('B', first, flaw, 0) with { Streams = true },
                Reconfigurer('R', first, flaw, Sequence(2)),
            ]) with
        { Streams = true };
    }

    private static Scenario Checks(Flaw flaw)
    {
        var first = First(s_one, Projections.Chain(0, 1));
        return New(
            "checks", "a check beside two appends, while the sequencer is replaced and the old one goes on", first, 2,
            2,
            [
                new Processes.Client(
                    'A', [new ClientTask(ClientTaskKind.Append), new ClientTask(ClientTaskKind.Append)], first,
                    s_one, flaw).Ready(),
                new Processes.Client('B', [new ClientTask(ClientTaskKind.Check)], first, s_one, flaw).Ready(),
                Reconfigurer('R', first, flaw, Sequence(2)),
            ]);
    }

    // Before the model starts: 0 is written, 1 half-written, 2 granted and never written; the range is closed and a
    // fresh unit joins it.
    private static Scenario Rebuild(Flaw flaw)
    {
        var (joining, nodes, history) = Prologue();
        return new Scenario(
            "rebuild",
            "a unit is rebuilt in a closed range with a hole, while a reader closes holes and the sequencer is "
            + "replaced",
            nodes, [
                Reader('A', joining, flaw, 1, 2),
                Reconfigurer('R', joining, flaw, Admit(2)), Reconfigurer('S', joining, flaw, Sequence(2)),
            ],
            history);
    }

    private static Scenario RebuildTwice(Flaw flaw)
    {
        var (joining, nodes, history) = Prologue();
        return new Scenario(
            "rebuild-twice",
            "two rebuild the same unit at once, while the writer of a half-written entry resolves it and a reader "
            + "reads the hole",
            nodes, [
                new Processes.Client('W', [new ClientTask(ClientTaskKind.Resolve, 1)], joining, s_one,
                    flaw) { TimeOuts = 1 }.Ready(),
                Reader('A', joining, flaw, 2),
                Reconfigurer('R', joining, flaw, Admit(2)), Reconfigurer('S', joining, flaw, Admit(2)),
            ],
            history);
    }

    private static Scenario Resolve(Flaw flaw)
    {
        var (joining, nodes, history) = Prologue();
        return new Scenario(
            "rebuild-remove",
            "the writer of a half-written entry resolves it while a unit is rebuilt and the head of its range removed",
            nodes, [
                new Processes.Client('W', [new ClientTask(ClientTaskKind.Resolve, 1)], joining, s_one,
                    flaw) { TimeOuts = 1 }.Ready(),
                Reconfigurer('R', joining, flaw, Admit(2)), Reconfigurer('S', joining, flaw, Remove(0)),
            ],
            history);
    }

    private static Scenario Layout(Flaw flaw)
    {
        var first = First(s_three, Projections.Chain(0));
        return New(
            "layout", "two reconfigurers, three acceptors, late messages: one projection per epoch", first, 1, 3,
            [
                Reconfigurer('R', first, flaw, Sequence(2)) with { Acceptors = s_three },
                Reconfigurer('S', first, flaw, Sequence(3)) with { Acceptors = s_three },
            ]) with
        { LateRequests = 1 };
    }

    private static Projection First(ImmutableArray<NodeAddress> acceptors, params Chain[] chains) =>
        Projections.Make(Epoch.First, Names.Sequencer(1), 0, acceptors,
            [new Segment(LogPosition.Zero, null, [.. chains])]);

    private static Processes.Client Appender(char id, Projection first, Flaw flaw, int timeOuts) =>
        new Processes.Client(id, [new ClientTask(ClientTaskKind.Append)], first, s_one, flaw)
        { TimeOuts = timeOuts }.Ready();

    private static Processes.Client Reader(
        char id, Projection first, Flaw flaw, int timeOuts, params long[] positions) =>
        new Processes.Client(id,
            [.. (positions.Length == 0 ? [0L] : positions).Select(p => new ClientTask(ClientTaskKind.Read, p))], first,
            s_one, flaw)
        { TimeOuts = timeOuts }.Ready();

    private static Reconfigurer Reconfigurer(char id, Projection first, Flaw flaw, ReconfigurerTask task) =>
        new(id, [task], first, s_one, flaw);

    private static ReconfigurerTask Sequence(int sequencer) =>
        new($"replace the sequencer by s{sequencer}", p => Change.Sequence(p, Names.Sequencer(sequencer)));

    private static ReconfigurerTask Remove(int unit) => new($"remove u{unit}", p => Change.Remove(p, Names.Unit(unit)));

    private static ReconfigurerTask Admit(int unit) =>
        new($"rebuild u{unit}", p => Change.Admit(p, Names.Unit(unit))) { Rebuild = Names.Unit(unit) };

    /// <summary>Everything installed in epoch 1.</summary>
    private static Scenario New(string name, string about, Projection first, int units, int sequencers,
        ImmutableArray<Process> processes)
    {
        var nodes = ImmutableArray.CreateBuilder<(NodeId, NodeState)>();
        for (var i = 0; i < units; i++) nodes.Add((Names.Unit(i), After(UnitState.Empty, new InstallRequest(first))));
        for (var i = 1; i <= sequencers; i++)
        {
            NodeState sequencer = SequencerState.New(Names.Sequencer(i));
            nodes.Add((Names.Sequencer(i), i == 1 ? After(sequencer, new BootstrapRequest(first)) : sequencer));
        }

        foreach (var acceptor in first.Acceptors)
            nodes.Add((acceptor.Id, After(AcceptorState.Empty, new DecidedRequest(first))));
        return new Scenario(name, about, nodes.ToImmutable(), processes, History.Of(first));
    }

    private static (Projection Joining, ImmutableArray<(NodeId, NodeState)> Nodes, History History) Prologue()
    {
        var first = First(s_one, Projections.Chain(0, 1));
        var closed = new Segment(LogPosition.Zero, new LogPosition(3),
            [new Chain([new Replica(Names.Unit(0)), new Replica(Names.Unit(1)), new Replica(Names.Unit(2), true)])]);
        var joining = Projections.Make(
            new Epoch(2), Names.Sequencer(1), 3, s_one,
            [closed, new Segment(new LogPosition(3), null, [Projections.Chain(0, 1)])]);
        var done = Entry('X', 0);
        var half = Entry('W', 1);
        var head = After(UnitState.Empty, new InstallRequest(first), new WriteRequest(Epoch.First, done),
            new WriteRequest(Epoch.First, half));
        var tail = After(UnitState.Empty, new InstallRequest(first), new WriteRequest(Epoch.First, done));
        var sequencer = After(SequencerState.New(Names.Sequencer(1)), new BootstrapRequest(joining));
        ImmutableArray<(NodeId, NodeState)> nodes =
        [
            (Names.Unit(0), After(head, new InstallRequest(joining))),
            (Names.Unit(1), After(tail, new InstallRequest(joining))),
            (Names.Unit(2), After(UnitState.Empty, new InstallRequest(joining))),
            (Names.Sequencer(1), sequencer),
            (Names.Sequencer(2), SequencerState.New(Names.Sequencer(2))),
            (Names.Acceptor(1), After(AcceptorState.Empty, new DecidedRequest(first), new DecidedRequest(joining))),
        ];
        var history = History.Of(first, joining) with { Acknowledged = [(0, new EntryOrigin(Names.Writer('X'), 1))] };
        return (joining, nodes, history);
    }

    private static byte[] Entry(char writer, long position) => EntryCodec.Encode(new LogEntry(
        new LogPosition(position, Epoch.First), new EntryOrigin(Names.Writer(writer), 1), EntryKind.Data,
        DateTimeOffset.UnixEpoch, [], default));

    private static NodeState After(NodeState state, params Request[] requests)
    {
        foreach (var request in requests)
        {
            (state, var response) = state.Handle(request);
            if (!response.IsOk) throw new ModelException($"The prologue's {Names.Of(request)} got {response.Status}.");
        }

        return state;
    }
}
