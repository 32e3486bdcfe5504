using System.Collections.Immutable;
using Corfu.ModelCheck.Processes;
using Corfu.Protocol;

namespace Corfu.ModelCheck.Traces;

/// <summary>
/// The answers that a process of the simulator has taken. A page, once written, stays, and a tail never falls: an old
/// answer is one that the model's process may get as well, because nothing hurries it.
/// </summary>
internal sealed class Knowledge
{
    private readonly HashSet<(long Position, Epoch Epoch)> _grants = [];
    private readonly Dictionary<Epoch, long> _tails = [];
    private readonly Dictionary<(long Position, Epoch Epoch, NodeId Unit), List<PageResult>> _pages = [];
    private readonly Dictionary<long, List<Epoch>> _epochs = [];
    private readonly Dictionary<(Opcode, Epoch, NodeId Unit, EntryOrigin), List<WriteResponse>> _outcomes = [];
    private readonly Dictionary<(long Position, Epoch Epoch), ReadOnlyMemory<byte>> _written = [];
    private readonly Dictionary<(Epoch Slot, Ballot), List<(NodeId Acceptor, LayoutResponse Answer)>> _promises = [];
    private readonly List<(NodeId Unit, SealResponse Answer)> _seals = [];
    private readonly HashSet<(long Position, NodeId Unit)> _held = [];
    private readonly Dictionary<NodeId, long> _marks = [];
    private readonly HashSet<long> _damaged = [];
    private readonly HashSet<long> _trimmed = [];

    /// <summary>The process was told that a replica's page is damaged: the model's pages never are.</summary>
    public bool IsDamaged(long position) => _damaged.Contains(position);

    /// <summary>The process was told that the position is trimmed: the model has no trims.</summary>
    public bool IsTrimmed(long position) => _trimmed.Contains(position);

    /// <summary>The unit has a value or a trim there, as the process was told.</summary>
    public bool IsDecidedAt(long position, NodeId unit) =>
        position < _marks.GetValueOrDefault(unit) || _held.Contains((position, unit));

    /// <summary>The epochs in which the process was told of a page there.</summary>
    public IReadOnlyList<Epoch> EpochsOf(long position) => _epochs.GetValueOrDefault(position) ?? [];

    public bool IsGranted(long position, Epoch epoch) => _grants.Contains((position, epoch));

    /// <summary>The answers to seals for that epoch or a later one, in the order in which they came.</summary>
    public IEnumerable<(NodeId Unit, SealResponse Answer)> SealsOf(Epoch next) =>
        _seals.Where(seal => seal.Answer.Epoch >= next);

    public IReadOnlyList<(NodeId Acceptor, LayoutResponse Answer)> PromisesOf(Epoch slot, Ballot ballot) =>
        _promises.GetValueOrDefault((slot, ballot)) ?? [];

    /// <summary>The entry that the process wrote under its grant; empty: none.</summary>
    public ReadOnlyMemory<byte> WrittenAt(long position, Epoch epoch) =>
        _written.GetValueOrDefault((position, epoch));

    public void Sent(Request request)
    {
        if (request is WriteRequest write)
            _written[(EntryCodec.PeekPosition(write.Entry.Span).Offset, write.Epoch)] = write.Entry;
    }

    public void Take(NodeId from, Request request, Response response)
    {
        switch (request, response)
        {
            case (TokenRequest token, TokenResponse { IsOk: true } granted):
                for (var i = 0; i < token.Count; i++) _grants.Add((granted.First.Offset + i, token.Epoch));
                SawTail(token.Epoch, granted.First.Offset + token.Count);
                break;
            case (TailRequest, TailResponse { IsOk: true } tail):
                SawTail(request.Epoch, tail.Tail.Offset);
                break;
            case (UnitInfoRequest, UnitInfoResponse { IsOk: true } info):
                SawMark(from, info.TrimMark);
                // The slow check: tokens are granted in order, so what is below a written position was granted.
                if (info.SealedBelow <= request.Epoch) SawTail(request.Epoch, info.End.Offset);
                break;
            case (TrimPrefixRequest trim, AckResponse { IsOk: true }):
                SawMark(from, trim.Below);
                break;
            case (TrimRequest trim, AckResponse { IsOk: true }):
                _held.Add((trim.Position.Offset, from));
                break;
            case (ReadRequest read, ReadResponse { IsOk: true } pages):
                foreach (var page in pages.Pages) TakePage(from, read, page);
                break;
            case (EntryRequest entry, WriteResponse outcome):
                TakeOutcome(from, entry, outcome);
                break;
            case (CompleteManyRequest many, CompleteManyResponse { IsOk: true } outcomes):
                for (var i = 0; i < outcomes.Outcomes.Length; i++)
                {
                    TakeOutcome(from, new CompleteRequest(many.Epoch, many.Entries[i]),
                        new WriteResponse(outcomes.Outcomes[i], many.Epoch));
                }

                break;
            case (PrepareRequest prepare, LayoutResponse promise):
                ListOf(_promises, (prepare.Slot, prepare.Ballot)).Add((from, promise));
                break;
            case (SealRequest seal, SealResponse { IsOk: true } answer):
                _seals.Add((from, answer with { Epoch = seal.Epoch }));
                break;
        }
    }

    /// <summary>The answers to a call of the model's process that this process has taken.</summary>
    /// <param name="needsEntry">A value counts only where the whole entry was read.</param>
    public IEnumerable<Response> AnswersTo(Call call, bool needsEntry) => call.Request switch
    {
        ReadRequest read => PagesOf(read.Positions[0].Offset, read.Epoch, call.To)
            .Where(page => !needsEntry || page.State == PageState.Unwritten || !page.Bytes.IsEmpty)
            .Select(page => new ReadResponse(Status.Ok, read.Epoch, [page])),
        TailRequest tail when _tails.TryGetValue(tail.Epoch, out var end) =>
            [new TailResponse(Status.Ok, tail.Epoch, new LogPosition(end, tail.Epoch), [], 0, [])],
        EntryRequest entry => OutcomesOf(entry, call.To),
        _ => [],
    };

    private IEnumerable<Response> OutcomesOf(EntryRequest request, NodeId unit)
    {
        var origin = EntryCodec.PeekOrigin(request.Entry.Span);
        foreach (var outcome in _outcomes.GetValueOrDefault((request.Opcode, request.Epoch, unit, origin)) ?? [])
            yield return outcome;
        if (request is not CompleteRequest) yield break;

        // A replica that was read to hold the value is not sent it again: the model's is, and says so.
        foreach (var page in PagesOf(EntryCodec.PeekPosition(request.Entry.Span).Offset, request.Epoch, unit))
        {
            if (page.Origin != origin || page.State is not (PageState.Data or PageState.Junk)) continue;
            var kind = page.State == PageState.Junk ? EntryKind.Junk : EntryKind.Data;
            yield return new WriteResponse(Status.AlreadyWritten, request.Epoch, kind, origin);
        }
    }

    private List<PageResult> PagesOf(long position, Epoch epoch, NodeId unit) =>
        _pages.GetValueOrDefault((position, epoch, unit)) ?? [];

    private void TakePage(NodeId from, ReadRequest read, in PageResult page)
    {
        if (page.State == PageState.Corrupt) _damaged.Add(page.Position.Offset);
        if (page.State == PageState.Trimmed) _trimmed.Add(page.Position.Offset);
        AddPage(from, read.Epoch, read.Detail == ReadDetail.Full ? page : page with { Bytes = default });
    }

    // A refusal that is no answer of the model's nodes is, to the model, a request that never came.
    private void TakeOutcome(NodeId from, EntryRequest request, WriteResponse response)
    {
        var position = EntryCodec.PeekPosition(request.Entry.Span);
        var origin = EntryCodec.PeekOrigin(request.Entry.Span);
        if (response.Status == Status.Corrupt) _damaged.Add(position.Offset);
        if (response.Status == Status.Trimmed) _held.Add((position.Offset, from));
        if (response.Status is not (Status.Ok or Status.AlreadyWritten or Status.Sealed or Status.Trimmed)) return;
        var outcomes = ListOf(_outcomes, (request.Opcode, request.Epoch, from, origin));
        if (!outcomes.Contains(response)) outcomes.Add(response);
        if (!response.IsOk && response.StoredOrigin != origin) return;

        // A unit holds what it has taken, now or before, as if it had been read there.
        var state = EntryCodec.PeekKind(request.Entry.Span) == EntryKind.Junk ? PageState.Junk : PageState.Data;
        AddPage(from, request.Epoch, new PageResult(position, state, false, origin, request.Entry));
    }

    private void AddPage(NodeId unit, Epoch epoch, PageResult page)
    {
        if (page.BelowMark) SawMark(unit, page.Position.Next);
        else if (page.State != PageState.Unwritten) _held.Add((page.Position.Offset, unit));
        var epochs = ListOf(_epochs, page.Position.Offset);
        if (!epochs.Contains(epoch)) epochs.Add(epoch);
        var known = ListOf(_pages, (page.Position.Offset, epoch, unit));
        var same = known.FindIndex(other => other.State == page.State && other.Origin == page.Origin);
        if (same < 0) known.Add(page);
        else if (known[same].Bytes.IsEmpty) known[same] = page;
    }

    private void SawTail(Epoch epoch, long tail) =>
        _tails[epoch] = Math.Max(_tails.GetValueOrDefault(epoch), tail);

    private void SawMark(NodeId unit, LogPosition mark) =>
        _marks[unit] = Math.Max(_marks.GetValueOrDefault(unit), mark.Offset);

    private static List<T> ListOf<TKey, T>(Dictionary<TKey, List<T>> lists, TKey key)
        where TKey : notnull
    {
        if (!lists.TryGetValue(key, out var list)) lists[key] = list = [];
        return list;
    }
}
