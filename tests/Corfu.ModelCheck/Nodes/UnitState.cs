using System.Collections.Immutable;
using System.Text;
using Corfu.Protocol;
using Corfu.Unit;

namespace Corfu.ModelCheck.Nodes;

/// <summary>A storage unit: <see cref="UnitCore"/> and its log.</summary>
public sealed class UnitState : NodeState
{
    /// <summary>Positions that the model looks at; no scenario grants more.</summary>
    public const int Positions = 8;

    private static readonly UnitCoreOptions s_options = new() { Cluster = Names.Cluster };

    private readonly IReadOnlyList<LogRecord> _log;

    private UnitState(IReadOnlyList<LogRecord> log)
    {
        _log = log;
        var (core, store) = Open();
        (Info, Pages, Start) = Probe(core, store);
        Key = Describe(Info, Pages, Start);
    }

    public static UnitState Empty { get; } = new([new LogRecord(RecordKind.Open, LogPosition.Zero)]);

    public override string Key { get; }

    public UnitInfoResponse Info { get; }

    public ImmutableArray<PageView> Pages { get; }

    /// <summary>First position of the installed epoch.</summary>
    public LogPosition Start { get; }

    public override (NodeState Next, Response Response) Handle(Request request)
    {
        var (core, store) = Open();
        var answer = core.Handle(request);
        var response = answer.Response ?? Done(PageReader.ReadAsync(store, answer.Plan!, core));
        if (core.CorruptPages > 0) throw new ModelException("A page is damaged.");
        if (store.Log.Count == _log.Count) return (this, response);
        var (info, pages, start) = Probe(core, store);
        var next = new UnitState(store.Log);
        var live = Describe(info, pages, start);
        if (live != next.Key) throw new ModelException($"A unit that was [{live}] recovers as [{next.Key}] (R3).");
        CheckStep(next, request);
        return (next, response);
    }

    // TOCS 2.1, Fig. 4: epochs and the highest address never fall, and the first value of a position is its last.
    private void CheckStep(UnitState next, Request request)
    {
        if (next.Info.SealedBelow < Info.SealedBelow || next.Info.Installed < Info.Installed)
            throw new ModelException("A unit's epoch fell (R14).");
        if (next.Info.End < Info.End || next.Info.TrimMark < Info.TrimMark)
            throw new ModelException("A unit's highest address or trim mark fell (R5).");
        for (var i = 0; i < Positions; i++)
        {
            if (next.Pages[i].SameValue(Pages[i])) continue;
            if (Pages[i].IsWritten && next.Pages[i].State != PageState.Trimmed)
                throw new ModelException(
                    $"A unit's position {i} changed from {Pages[i]} to {next.Pages[i]} (write-once).");
            if (request.Epoch < Info.SealedBelow)
                throw new ModelException(
                    $"A unit sealed below {Info.SealedBelow} accepted a request of {request.Epoch} (R4).");
        }
    }

    private (UnitCore Core, ReplayStore Store) Open()
    {
        var store = new ReplayStore(_log);
        return (Done(UnitCore.OpenAsync(store, s_options)), store);
    }

    private static (UnitInfoResponse Info, ImmutableArray<PageView> Pages, LogPosition Start) Probe(UnitCore core,
        ReplayStore store)
    {
        var info = (UnitInfoResponse)core.Handle(new UnitInfoRequest(Epoch.None)).Response!;
        var pages = ImmutableArray.CreateBuilder<PageView>(Positions);
        for (var i = 0; i < Positions; i++)
        {
            var slot = store.Find(new LogPosition(i));
            if (i < info.TrimMark.Offset) slot = new PageSlot(PageState.Trimmed, 0, 0, 0, default, 0);
            var epoch = slot.HeaderLength > 0
                ? EntryCodec.PeekPosition(Done(store.ReadAsync(slot.Address, slot.HeaderLength)).Span).Epoch
                : Epoch.None;
            pages.Add(new PageView(slot.State, slot.Origin, epoch));
        }

        var start = LogPosition.Zero;
        foreach (var record in store.Log)
        {
            if (record.Kind == RecordKind.Install && record.Position.Epoch == info.Installed) start = record.Position;
        }

        return (info, pages.MoveToImmutable(), start);
    }

    private static string Describe(UnitInfoResponse info, ImmutableArray<PageView> pages, LogPosition start)
    {
        var text =
            new StringBuilder(
                $"sealed {info.SealedBelow} installed {info.Installed} start {start.Offset} end {info.End.Offset} "
                + $"mark {info.TrimMark.Offset}");
        for (var i = 0; i < pages.Length; i++)
        {
            if (pages[i].State != PageState.Unwritten) text.Append($" {i}: {pages[i]}");
        }

        return text.ToString();
    }

    private static T Done<T>(ValueTask<T> task) =>
        task.IsCompletedSuccessfully
            ? task.Result
            : throw new ModelException("A core waits for something that is no part of the model.");
}
