using System.Collections.Immutable;
using System.Text;
using Corfu.ModelCheck.Nodes;
using Corfu.Protocol;
using Corfu.Sequencer;

namespace Corfu.ModelCheck.Decisions;

internal enum DecisionMoveKind
{
    Check,
    Ask,
    AskInVain,
    Write,
    Cancel,
    Fill,
    Reconfigure,
}

/// <param name="Index">The process, or the position.</param>
/// <param name="Epoch">The epoch of a request.</param>
internal readonly record struct DecisionMove(DecisionMoveKind Kind, int Index, int Epoch = 0);

/// <summary>The progress of a process with its entry.</summary>
internal enum DecisionStage
{
    Idle,
    Checked,
    Granted,
}

/// <param name="Task">The entry's index.</param>
/// <param name="Seen">Positions below the tail that held a value when it was answered.</param>
/// <param name="Marked">Records that are written, and of them those that are written as decided.</param>
internal readonly record struct DecisionProcess(int Task, DecisionStage Stage, LogPosition Since, int Seen,
    LogPosition Position, int Written, int Marked, int Tries)
{
    public override string ToString() =>
        $"{Task}{(int)Stage} {Since} {Seen} {Position} {Written} {Marked} {Tries}";
}

/// <summary>A page of the log: unwritten, junk, or an entry with its decided records.</summary>
internal sealed record DecisionPage(
    DecisionEntry? Entry, int Process, int Written, int Marked, LogPosition Since, int Seen)
{
    public static readonly DecisionPage Junk = new(null, 0, 0, 0, default, 0);
}

/// <summary>The product's <see cref="SequencerCore"/> with two cells, as two incarnations; the log as write-once pages
/// that refuse an older epoch; and processes that append to it. Immutable.</summary>
internal sealed record DecisionWorld
{
    private const int MaxTries = 2;

    private static readonly NodeId[] s_ids = [Names.Sequencer(1), Names.Sequencer(2)];
    private static readonly SequencerOptions s_options =
        new() { MaxCells = 2, RememberedGrants = 1, RememberedWords = 1 };

    private readonly DecisionScenario _scenario;
    private readonly DecisionFlaw _flaw;
    private ImmutableArray<DecisionPage?> _log = [];
    private ImmutableArray<DecisionProcess> _processes;

    // Requests that changed each incarnation.
    private ImmutableArray<ImmutableArray<Request>> _sequencers = [[], []];

    // Starts of the epochs, of which the last one is the log's.
    private ImmutableArray<long> _starts = [0];
    // Positions of the last epoch, and their streams.
    private ImmutableArray<(long Position, ImmutableArray<StreamId> Streams)> _grants = [];
    private int _fills;
    private int _losses;
    private int _cancels;

    public DecisionWorld(DecisionScenario scenario, DecisionFlaw flaw)
    {
        _scenario = scenario;
        _flaw = flaw;
        _processes = [.. scenario.Entries.Select(static _ => default(DecisionProcess))];
        Bootstrap(1, 0);
    }

    /// <summary>The invariant that was broken; null: none.</summary>
    public string? Violation { get; private init; }

    private int Current => _starts.Length;

    public List<DecisionMove> Moves()
    {
        var moves = new List<DecisionMove>();
        for (var i = 0; i < _processes.Length; i++)
        {
            var process = _processes[i];
            if (process.Task == _scenario.Entries[i].Length) continue;
            switch (process.Stage)
            {
                case DecisionStage.Idle when IsPlayable(EntryOf(i).Played):
                    moves.Add(new DecisionMove(DecisionMoveKind.Check, i));
                    break;
                case DecisionStage.Checked:
                    for (var epoch = (int)process.Since.Epoch.Value; epoch <= Current; epoch++)
                    {
                        if (Open(OwnerOf(epoch)).Epoch.Value != epoch) continue;
                        moves.Add(new DecisionMove(DecisionMoveKind.Ask, i, epoch));
                        if (_losses < _scenario.Losses)
                            moves.Add(new DecisionMove(DecisionMoveKind.AskInVain, i, epoch));
                    }

                    break;
                case DecisionStage.Granted:
                    moves.Add(new DecisionMove(DecisionMoveKind.Write, i));
                    if (_cancels < _scenario.Cancels) moves.Add(new DecisionMove(DecisionMoveKind.Cancel, i));
                    break;
            }
        }

        for (var position = _starts[^1]; _fills < _scenario.Fills && position < Tail(Current); position++)
        {
            if (PageAt(position) is null) moves.Add(new DecisionMove(DecisionMoveKind.Fill, (int)position));
        }

        if (Current < _scenario.Epochs) moves.Add(new DecisionMove(DecisionMoveKind.Reconfigure, 0));
        return moves;
    }

    public DecisionWorld Apply(DecisionMove move)
    {
        var next = this with { };
        switch (move.Kind)
        {
            case DecisionMoveKind.Check:
                next.Check(move.Index);
                break;
            case DecisionMoveKind.Ask:
                next.Ask(move.Index, move.Epoch);
                break;
            case DecisionMoveKind.AskInVain:
                next._losses++;
                next.Handle(move.Epoch, next.Request(move.Index, move.Epoch));
                break;
            case DecisionMoveKind.Write:
                next.Write(move.Index);
                break;
            case DecisionMoveKind.Cancel:
                next._cancels++;
                next.Cancel(move.Index);
                break;
            case DecisionMoveKind.Fill:
                next._fills++;
                next.Set(move.Index, DecisionPage.Junk);
                break;
            default:
                next.Reconfigure();
                break;
        }

        return move.Kind == DecisionMoveKind.Write ? next with { Violation = next.Find() } : next;
    }

    public string Describe(DecisionMove move) => move.Kind switch
    {
        DecisionMoveKind.Fill => $"a reader fills {move.Index}",
        DecisionMoveKind.Reconfigure => $"epoch {Current + 1}",
        DecisionMoveKind.Ask or DecisionMoveKind.AskInVain =>
            $"{(char)('A' + move.Index)} {move.Kind} epoch {move.Epoch}: {Say(move)}",
        _ => $"{(char)('A' + move.Index)} {move.Kind} {_processes[move.Index]}",
    };

    public IEnumerable<string> Describe()
    {
        for (var i = 0; i < _log.Length; i++)
        {
            yield return _log[i] is not { Entry: { } entry } page
                ? $"{i}: {(_log[i] is null ? "unwritten" : "junk")}"
                : $"{i}: {(char)('A' + page.Process)} since {page.Since} written {page.Written:b} decided "
                    + $"{page.Marked:b} of {string.Join(' ', entry.Records)}";
        }
    }

    /// <summary>Equal for states from which the same can happen.</summary>
    public string Key()
    {
        var key = new StringBuilder();
        foreach (var page in _log)
            key.Append(page is null ? "_" : page.Entry is null ? "j"
                : $"{page.Process}{page.Entry.Records[0]}{page.Written}{page.Marked}{page.Since} {page.Seen}")
                .Append('|');
        foreach (var process in _processes) key.Append(process).Append('|');
        foreach (var requests in _sequencers)
        {
            var bytes = new FrameBuffer();
            foreach (var request in requests) MessageCodec.WriteRequest(bytes, 0, request, WireProtocol.Version3);
            key.Append(Convert.ToBase64String(bytes.WrittenSpan)).Append('|');
        }

        return key.AppendJoin(',', _starts).Append('|').Append(_fills).Append(_losses).Append(_cancels).ToString();
    }

    private string Say(DecisionMove move)
    {
        var response = (TokenResponse)Open(OwnerOf(move.Epoch)).Handle(Request(move.Index, move.Epoch));
        var refused = response.Rulings.SelectMany(ruling => ruling.Refused)
            .Select(r => $"; {r.Record} refused, {r.Reason} at {r.Position}");
        return $"{response.First}{string.Concat(refused)}";
    }

    private DecisionEntry EntryOf(int process) => _scenario.Entries[process][_processes[process].Task];

    private static int OwnerOf(int epoch) => epoch == 1 ? 0 : 1;

    private long Tail(int epoch) => Open(OwnerOf(epoch)).Tail.Offset;

    private DecisionPage? PageAt(long position) => position < _log.Length ? _log[(int)position] : null;

    private void Set(long position, DecisionPage page)
    {
        while (_log.Length <= position) _log = _log.Add(null);
        _log = _log.SetItem((int)position, page);
    }

    private void Set(int process, DecisionProcess state) => _processes = _processes.SetItem(process, state);

    // Positions of an ended epoch are closed without a wait. Holes of other streams are not met: a tail may lie above
    // what the next epoch finds written.
    private bool IsPlayable(ImmutableArray<StreamId> streams) =>
        !_grants.Any(grant => PageAt(grant.Position) is null && grant.Streams.Any(streams.Contains));

    // A linearizable tail, and everything below is played.
    private void Check(int process)
    {
        for (long position = 0; position < _starts[^1]; position++)
        {
            if (PageAt(position) is null) Set(position, DecisionPage.Junk);
        }

        var (tail, seen) = (Tail(Current), 0);
        for (var position = 0; position < Math.Min(tail, _log.Length); position++)
        {
            if (_log[position] is not null) seen |= 1 << position;
        }

        Set(process, _processes[process] with
        {
            Stage = DecisionStage.Checked,
            Since = new LogPosition(tail, new Epoch(Current)),
            Seen = seen,
        });
    }

    private TokenRequest Request(int process, int epoch)
    {
        var entry = EntryOf(process);
        return new TokenRequest(new Epoch(epoch), 1, entry.Streams)
        {
            Declarations = entry.IsDeclared ? [entry.Declare(_processes[process].Since, _flaw, process)] : [],
        };
    }

    private void Ask(int process, int epoch)
    {
        var (entry, response) = (EntryOf(process), Handle(epoch, Request(process, epoch)));
        var ruling = response.Rulings.IsEmpty ? null : response.Rulings[0];
        if (ruling is { IsGranted: false })
        {
            Retry(process);
            return;
        }

        var (written, marked) = (0, 0);
        for (var i = 0; i < entry.Records.Length; i++)
        {
            if (ruling is not null && ruling.Refused.Any(refusal => refusal.Record == i)) continue;
            written |= 1 << i;
            if (entry.Records[i].IsDecided && (ruling is not null || _flaw == DecisionFlaw.SilenceIsARuling))
                marked |= 1 << i;
        }

        Set(process, _processes[process] with
        {
            Stage = DecisionStage.Granted,
            Position = response.First,
            Written = written,
            Marked = marked,
        });
    }

    // The units refuse an older epoch, and what is written already.
    private void Write(int process)
    {
        var state = _processes[process];
        if (state.Position.Epoch.Value == Current && PageAt(state.Position.Offset) is null)
        {
            Set(state.Position.Offset,
                new DecisionPage(EntryOf(process), process, state.Written, state.Marked, state.Since,
                    state.Seen));
            Set(process, new DecisionProcess { Task = state.Task + 1 });
        }
        else if (_flaw == DecisionFlaw.RetryKeepsItsRuling && Open(OwnerOf(Current)).Epoch.Value == Current)
        {
            var plain = new TokenRequest(new Epoch(Current), 1, EntryOf(process).Streams);
            Set(process, state with { Position = Handle(Current, plain).First });
        }
        else
        {
            Retry(process);
        }
    }

    // The next entry begins anew; the position is a hole.
    private void Cancel(int process)
    {
        var state = _processes[process];
        var next = new DecisionProcess { Task = state.Task + 1 };
        if (_flaw == DecisionFlaw.PositionPassedOn && next.Task < _scenario.Entries[process].Length)
        {
            var all = (1 << _scenario.Entries[process][next.Task].Records.Length) - 1;
            next = state with { Task = next.Task, Written = all, Marked = all };
        }

        Set(process, next);
    }

    private void Retry(int process)
    {
        var state = _processes[process];
        Set(process, state.Tries + 1 < MaxTries
            ? new DecisionProcess { Task = state.Task, Tries = state.Tries + 1 }
            : new DecisionProcess { Task = state.Task + 1 });
    }

    private void Reconfigure()
    {
        // Everything is sealed at once: the start is above what the units hold.
        var start = Math.Max(_starts[^1], _log.Length);
        _starts = _starts.Add(start);
        _grants = [];
        Bootstrap(Current, start);
    }

    private void Bootstrap(int epoch, long start)
    {
        var projection = Processes.Projections.Make(new Epoch(epoch), s_ids[OwnerOf(epoch)], start,
            [Names.At(Names.Acceptor(1))],
            [new Segment(LogPosition.Zero, null, [Processes.Projections.Chain(0)])]);
        var requests = _sequencers[OwnerOf(epoch)].Add(new BootstrapRequest(projection));
        if (start > 0)
        {
            var tails = _scenario.Entries.SelectMany(entries => entries).SelectMany(entry => entry.Streams).Distinct()
                .Select(stream => new StreamTail(stream, []));
            requests = requests.Add(new LoadStreamsRequest(new Epoch(epoch), [.. tails]));
        }

        _sequencers = _sequencers.SetItem(OwnerOf(epoch), requests);
    }

    private TokenResponse Handle(int epoch, TokenRequest request)
    {
        var owner = OwnerOf(epoch);
        var core = Open(owner);
        var before = core.Tail;
        var response = (TokenResponse)core.Handle(request);
        if (!response.IsOk) throw new ModelException($"A token got {response.Status}.");
        if (core.Tail == before) return response;
        _sequencers = _sequencers.SetItem(owner, _sequencers[owner].Add(request));
        if (epoch == Current) _grants = _grants.Add((response.First.Offset, request.Streams));
        return response;
    }

    private SequencerCore Open(int owner)
    {
        var core = new SequencerCore(s_ids[owner], s_options with { Decide = !_scenario.IsSilent });
        foreach (var request in _sequencers[owner]) core.Handle(request);
        return core;
    }

    /// <summary>No entry up to a decided record writes what the record reads, but those that were there when its tail
    /// was answered; nor does a record before it in its entry.</summary>
    private string? Find()
    {
        for (var at = 0; at < _log.Length; at++)
        {
            if (_log[at] is not { Entry: { } entry } page) continue;
            for (var i = 0; i < entry.Records.Length; i++)
            {
                if ((page.Marked >> i & 1) == 0) continue;
                for (var q = 0; q <= at; q++)
                {
                    if ((page.Seen >> q & 1) == 0 && _log[q] is { Entry: not null } other
                        && FindWriter(other, q == at ? i : int.MaxValue, entry.Records[i]) is { } writer)
                        return $"decided: {entry.Records[i]} of {(char)('A' + page.Process)} at {at} since "
                            + $"{page.Since}, and {writer} stands at {q}";
                }
            }
        }

        return null;
    }

    private static DecisionRecord? FindWriter(DecisionPage page, int before, DecisionRecord reader)
    {
        for (var i = 0; i < Math.Min(before, page.Entry!.Records.Length); i++)
        {
            var record = page.Entry.Records[i];
            if ((page.Written >> i & 1) > 0 && reader.Reads.Any(read => record.Writes.Any(w => w.Changes(read))))
                return record;
        }

        return null;
    }
}
