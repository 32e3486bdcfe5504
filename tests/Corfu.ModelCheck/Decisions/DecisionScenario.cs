using System.Collections.Immutable;
using Corfu.Protocol;

namespace Corfu.ModelCheck.Decisions;

/// <summary>A read or a write of an object: a key, <see cref="All"/>, or the end of the object's group.
/// Objects M and N are a group, of which M is the first member.</summary>
internal readonly record struct ObjectOp(char Object, char Key)
{
    public const char All = '*';
    public const char Delete = '!';

    private static readonly StreamId s_group = StreamOf('M');

    private bool IsOfGroup => Object is 'M' or 'N';

    public StreamId Stream => StreamOf(Object);

    /// <summary>Whether a write changes what is read.</summary>
    public bool Changes(ObjectOp read)
    {
        if (Key == Delete) return read.IsOfGroup;
        return Object == read.Object && (Key == All || read.Key == All || Key == read.Key);
    }

    public CellScope Written(DecisionFlaw flaw, int process)
    {
        if (Key == Delete && flaw == DecisionFlaw.DeletionTellsItsStreams) return new(Stream, ScopeKind.Whole);
        if (Key == Delete) return new(Stream, ScopeKind.Unit);
        return flaw == DecisionFlaw.UpdateWithoutItsKeys && Key == 'a'
            ? new(Stream, ScopeKind.Keyed, 'z')
            : Scope(flaw, process);
    }

    /// <summary>R32: a read of a member is also one of the group.</summary>
    public IEnumerable<CellScope> Read(DecisionFlaw flaw, int process)
    {
        if (IsOfGroup) yield return new CellScope(s_group, ScopeKind.Unit);
        yield return Scope(flaw, process);
    }

    public override string ToString() => $"{Object}{Key}";

    private CellScope Scope(DecisionFlaw flaw, int process) => Key == All
        ? new(Stream, ScopeKind.Whole)
        : new(Stream, ScopeKind.Keyed, flaw == DecisionFlaw.CellsByProcess ? Key + (1000ul * (ulong)process) : Key);

    private static StreamId StreamOf(char one) => new(300 + (ulong)one);
}

/// <param name="IsDecided">A transaction, which the sequencer is asked for.</param>
internal sealed record DecisionRecord(bool IsDecided, ImmutableArray<ObjectOp> Reads, ImmutableArray<ObjectOp> Writes)
{
    public override string ToString() =>
        $"({(IsDecided ? "decided " : "")}reads {string.Join(' ', Reads)} writes {string.Join(' ', Writes)})";
}

/// <summary>An entry that a process appends.</summary>
internal sealed record DecisionEntry(bool IsDeclared, ImmutableArray<DecisionRecord> Records)
{
    public bool IsDecided => Records.Any(static record => record.IsDecided);

    public ImmutableArray<StreamId> Streams =>
        [.. Records.SelectMany(record => record.Writes).Select(write => write.Stream).Distinct()];

    /// <summary>Streams that are played for the reads.</summary>
    public ImmutableArray<StreamId> Played =>
    [
        .. Records.SelectMany(record => record.Reads).SelectMany(read => read.Read(DecisionFlaw.None, 0))
            .Select(scope => scope.Stream).Distinct(),
    ];

    public Declaration Declare(LogPosition since, DecisionFlaw flaw, int process) => new(
    [
        .. Records.Select(record => new DeclaredRecord(
            [.. record.Writes.Select(write => write.Written(flaw, process))], record.IsDecided ? since : null,
            record.IsDecided ? [.. record.Reads.SelectMany(read => read.Read(flaw, process))] : [])),
    ]);
}

/// <summary>Processes that append entries, each one after the other.</summary>
/// <param name="Epochs">The first epoch's sequencer is one incarnation, that of all later ones another.</param>
/// <param name="Fills">Holes that readers close.</param>
/// <param name="Losses">Answers that are lost.</param>
/// <param name="Cancels">Appends that are given up after their grant.</param>
internal sealed record DecisionScenario(string Name, string About,
    ImmutableArray<ImmutableArray<DecisionEntry>> Entries, int Epochs = 1, int Fills = 0, int Losses = 0,
    int Cancels = 0, bool IsSilent = false)
{
    public static ImmutableArray<DecisionScenario> All { get; } =
    [
        new("decisions-cells", "three cells in a table of two, increments in one entry, and a writer that declares "
            + "nothing", [
                [Declared(Tx("xa", "xa"), Tx("xa", "xa")), Undeclared(Update("xb"))],
                [Declared(Tx("xa xb", "y*")), Declared(Tx("y* xb", "xb"))],
                [Declared(Update("xa")), Declared(Update("xc")), Declared(Update("xb"))],
            ]),
        new("decisions-epochs", "the sequencer is replaced, then its successor begins another epoch; the old one goes "
            + "on granting", [
                [Declared(Tx("xa", "xa")), Declared(Tx("xb", "xb"))],
                [Declared(Update("xa")), Declared(Tx("xa", "xb"))],
            ], Epochs: 3, Fills: 1, Losses: 1),
        new("decisions-tails", "a tail above a hole of another stream, and an epoch that begins below it", [
                [Declared(Tx("xa", "xa"))], [Declared(Update("y*"))], [Declared(Update("xa"))],
            ], Epochs: 2),
        new("decisions-holes", "positions are lost to a filler, answers are lost, appends are given up", [
                [Declared(Tx("xa", "xa")), Declared(Tx("xb", "xa"))],
                [Declared(Tx("xa", "xa xb")), Declared(Update("xb"))],
            ], Fills: 2, Losses: 1, Cancels: 1),
        new("decisions-group", "a deletion that lacks the stream of the member added last", [
                [Declared(Tx("Nk", "Nk")), Declared(Tx("Mk Nk", "y*"))],
                [Declared(Update("M!"))],
                [Declared(Update("N*")), Declared(Tx("y*", "Mk"))],
            ]),
        new("decisions-silent", "a sequencer that grants and decides nothing", [
                [Declared(Tx("xa", "xa"))],
                [Declared(Tx("xa", "xa"))],
            ], IsSilent: true),
    ];

    private static DecisionEntry Declared(params ImmutableArray<DecisionRecord> records) => new(true, records);

    private static DecisionEntry Undeclared(params ImmutableArray<DecisionRecord> records) => new(false, records);

    private static DecisionRecord Tx(string reads, string writes) => new(true, Ops(reads), Ops(writes));

    private static DecisionRecord Update(string writes) => new(false, [], Ops(writes));

    private static ImmutableArray<ObjectOp> Ops(string text) =>
        [.. text.Split(' ').Select(one => new ObjectOp(one[0], one[1]))];
}

/// <summary>Mistakes of the processes that append. Those of the sequencer are planted in it.</summary>
internal enum DecisionFlaw
{
    None,

    /// <summary>An update of one key declares another (R24).</summary>
    UpdateWithoutItsKeys,

    /// <summary>An append that lost its position goes on at another one as decided (R28).</summary>
    RetryKeepsItsRuling,

    /// <summary>A grant without a ruling counts as one (R28).</summary>
    SilenceIsARuling,

    /// <summary>The next append takes the position of one that was given up (R28).</summary>
    PositionPassedOn,

    /// <summary>Two processes have different cells for one key (R31).</summary>
    CellsByProcess,

    /// <summary>A deletion declares writes of its streams, not of the group (R32).</summary>
    DeletionTellsItsStreams,
}
