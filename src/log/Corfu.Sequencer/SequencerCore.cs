using System.Runtime.InteropServices;

namespace Corfu.Sequencer;

/// <summary>The networked counter of CORFU 2.3 with the last K positions of every stream (Tango 5). Pure: one request
/// in, one answer out, not thread-safe. All its state is soft and belongs to one epoch of one incarnation
/// (R7).</summary>
internal sealed class SequencerCore
{
    private readonly SequencerOptions _options;
    private readonly GrantMemory _grants;
    private readonly GraceWindow _graces;
    private readonly CellTable _cells;
    private readonly Decider _decider;

    // The state of _epoch, replaced whole by the next bootstrap. _next is the tail: nothing at or above it is granted
    // in this epoch. In _streams, a slot with a grant is the only place that knows its stream's tail; one without can
    // be handed over again.
    private readonly Dictionary<ulong, StreamSlot> _streams = [];
    private readonly Queue<ulong> _loaded = new();
    private Projection? _projection;
    private Epoch _epoch;
    private long _start;
    private long _next;

    // False in a mirror's epoch until its copier has completed the positions below the start: until then it answers
    // neither a tail, up to which readers would read, nor a frozen list of a stream.
    private bool _ready;

    /// <param name="id">Never used before (R2).</param>
    /// <param name="draw">Draws a number that no client knows, when the first cell is written.</param>
    public SequencerCore(NodeId id, SequencerOptions? options = null, Func<ulong>? draw = null)
    {
        Id = id;
        _options = options ?? new SequencerOptions();
        _options.Validate();
        _grants = new GrantMemory(_options.RememberedGrants, _options.RememberedWords);
        _graces = new GraceWindow(_options.MaxGraceMilliseconds, _options.GraceSpan);
        _cells = new CellTable(_options.MaxCells, draw ?? (static () => 0));
        _decider = new Decider(_streams, _cells);
    }

    public NodeId Id { get; }

    /// <summary>None before the first bootstrap.</summary>
    public Epoch Epoch => _epoch;

    public LogPosition Tail => new(_next, _epoch);

    public int StreamCount => _streams.Count;

    public int CellCount => _cells.Count;

    /// <summary>Keyed writes of grants below it may be forgotten.</summary>
    public long CellMark => _cells.Mark;

    public Response Handle(Request request) => request switch
    {
        BootstrapRequest bootstrap => new AckResponse(Bootstrap(bootstrap.Projection), _epoch),
        SequencerInfoRequest => new SequencerInfoResponse(Status.Ok, _epoch, Tail, _streams.Count),
        _ when request.Epoch < _epoch => request.Fail(Status.Sealed, _epoch),
        _ when request.Epoch > _epoch || _projection is null => request.Fail(Status.NotBootstrapped, _epoch),
        TokenRequest token => Token(token),
        TailRequest tail => TailOf(tail),
        LoadStreamsRequest load => new AckResponse(Load(load), _epoch),
        AdvanceRequest advance => Advance(advance),
        GrantsRequest grants => Grants(grants),
        _ => request.Fail(Status.Unsupported, _epoch),
    };

    /// <summary>R7: one bootstrap per epoch, its content from the projection alone; tokens and remembered tails die
    /// with their epoch.</summary>
    private Status Bootstrap(Projection projection)
    {
        if (projection.Sequencer.Id != Id) return Status.WrongNode;
        if (_projection is { } served && projection.Cluster != served.Cluster) return Status.WrongNode;
        if (projection.Epoch < _epoch) return Status.Sealed;
        if (projection.Epoch == _epoch) return projection.Equals(_projection) ? Status.Ok : Status.Conflict;
        if (projection.Epoch.Value - _epoch.Value > MessageLimits.EpochReach) return Status.BadRequest;
        _projection = projection;
        _epoch = projection.Epoch;
        _start = projection.Start.Offset;
        _next = _start;
        _ready = !projection.IsMirror || _start == 0;
        if (Planted.Is("start-not-honoured")) _next = Math.Max(0, _start - 1);
        _streams.Clear();
        _loaded.Clear();
        _grants.Clear();
        _graces.Clear();
        _decider.Begin(_epoch, _start);
        return Status.Ok;
    }

    /// <summary>A new log has no older entries: every stream is known, and empty until its first grant.</summary>
    private bool EveryStreamIsKnown => _start == 0;

    /// <summary>The streams that the request would be the first to append to. None where the tail of one is still to be
    /// handed over: then nothing is granted.</summary>
    public int CountNew(TokenRequest request)
    {
        if (request.Epoch != _epoch) return 0;
        var added = 0;
        foreach (var stream in request.Streams)
        {
            if (_streams.TryGetValue(stream.Value, out var slot))
            {
                if (slot.IsEmpty) added++;
            }
            else if (EveryStreamIsKnown)
            {
                added++;
            }
            else
            {
                return 0;
            }
        }

        return added;
    }

    private Response Token(TokenRequest request)
    {
        if (_projection!.IsMirror) return request.Fail(Status.Mirror, _epoch);
        if (!IsValid(request)) return request.Fail(Status.BadRequest, _epoch);
        var isDecided = _options.Decide && request.Declarations.Length > 0;
        if (isDecided && !_decider.IsValid(request)) return request.Fail(Status.BadRequest, _epoch);
        if (FindUnknown(request.Streams) is { Length: > 0 } unknown)
            return new TokenResponse(Status.UnknownStream, _epoch, default, [], unknown);
        if (!ReserveStreams(request.Streams)) return request.Fail(Status.StreamLimit, _epoch);
        var first = _next;
        var granted = request.Count;
        var rulings = isDecided ? _decider.Decide(request, first, out granted) : [];
        if (granted == 0)
            return new TokenResponse(Status.Ok, _epoch, Tail, [], []) { Rulings = rulings };
        _next += granted;
        var previous = new StreamTail[request.Streams.Length];
        for (var i = 0; i < previous.Length; i++)
        {
            var stream = request.Streams[i];
            ref var slot = ref SlotOf(stream);
            previous[i] = slot.ToTail(stream, _start, _epoch);
            slot.Push(first, granted);
            if (!isDecided) Decider.EnterAll(ref slot, _next);
        }

        var tails = ImmutableCollectionsMarshal.AsImmutableArray(previous);
        _grants.Add(first, granted, tails);
        _graces.Ask(request.GraceMilliseconds, _next);
        return new TokenResponse(Status.Ok, _epoch, new LogPosition(first, _epoch), tails, [])
        {
            Besides = Besides(request.Besides),
            Rulings = rulings,
        };
    }

    // A stream that is not handed over yet is no reason to refuse the token.
    private ImmutableArray<StreamTail> Besides(ImmutableArray<StreamId> streams)
    {
        if (streams.IsDefaultOrEmpty || !FindUnknown(streams).IsEmpty) return [];
        var tails = TailsOf(streams);
        if (!Planted.Is("token-forgets-streams")) return tails;
        return [.. tails.Select(static tail => tail with { Positions = [] })];
    }

    private bool IsValid(TokenRequest request) =>
        request.Count is >= 1 and <= MessageLimits.MaxTokens && _next <= long.MaxValue - request.Count
        && request.Streams.Length <= EntryLimits.MaxStreams && StreamId.AreDistinct(request.Streams.AsSpan());

    /// <summary>Tango 5: the tails of several streams and the log's, as of one moment.</summary>
    private Response TailOf(TailRequest request)
    {
        if (!_ready) return request.Fail(Status.Unready, _epoch);
        if (FindUnknown(request.Streams) is { Length: > 0 } unknown)
            return new TailResponse(Status.UnknownStream, _epoch, default, [], 0, unknown);
        return new TailResponse(
            Status.Ok, _epoch, Tail, TailsOf(request.Streams), _graces.Longest(_next), []);
    }

    private ImmutableArray<StreamTail> TailsOf(ImmutableArray<StreamId> streams)
    {
        var tails = new StreamTail[streams.Length];
        for (var i = 0; i < tails.Length; i++)
        {
            _streams.TryGetValue(streams[i].Value, out var slot);
            tails[i] = slot.ToTail(streams[i], _start, _epoch);
        }

        return ImmutableCollectionsMarshal.AsImmutableArray(tails);
    }

    private Status Load(LoadStreamsRequest request)
    {
        if (!_ready) return Status.Unready;
        if (EveryStreamIsKnown) return Status.Ok;
        if (!request.Tails.All(t => IsBelowStart(t.Positions))) return Status.BadRequest;
        foreach (var tail in request.Tails)
        {
            // The first hand-over wins: the lists are frozen at the units, so a later one says the same, and may lack
            // our grants.
            if (_streams.ContainsKey(tail.Stream.Value)) continue;
            if (_streams.Count >= _options.MaxStreams && !Evict()) return Status.StreamLimit;
            SlotOf(tail.Stream).Load(tail.Positions);
            _loaded.Enqueue(tail.Stream.Value);
        }

        return Status.Ok;
    }

    private bool IsBelowStart(ImmutableArray<LogPosition> newestFirst)
    {
        var above = _start;
        foreach (var position in newestFirst)
        {
            if (position.Offset >= above) return false;
            above = position.Offset;
        }

        return newestFirst.Length <= StreamHeader.MaxBackpointers;
    }

    /// <summary>R8: only what this incarnation granted in this epoch is answered. A run may have many streams and
    /// positions, so the answer is counted in streams.</summary>
    private GrantsResponse Grants(GrantsRequest request)
    {
        var found = ImmutableArray.CreateBuilder<Grant>();
        var (examined, streams) = (0, 0);
        while (examined < request.Positions.Length && streams < MessageLimits.GrantBudget)
        {
            if (_grants.Find(request.Positions[examined++], _start, _epoch) is not { } grant) continue;
            streams += grant.Previous.Length;
            found.Add(grant);
        }

        return new GrantsResponse(Status.Ok, _epoch, examined, found.DrainToImmutable());
    }

    /// <summary>Raises the tail of a mirror, on the word of its copier. An epoch that begins above the copier's tail
    /// has its streams from the units, as in any log.</summary>
    private Response Advance(AdvanceRequest request)
    {
        if (!_projection!.IsMirror) return request.Fail(Status.BadRequest, _epoch);
        if (request.From.Offset > _next || (!_ready && request.To.Offset < _start))
            return request.Fail(Status.Conflict, _epoch);
        _ready = true;
        var news = request.Entries.Where(e => e.Position.Offset >= _next).ToList();
        var streams = news.SelectMany(e => e.Streams).Distinct().ToImmutableArray();
        if (FindUnknown(streams) is { Length: > 0 } unknown)
            return new TailResponse(Status.UnknownStream, _epoch, default, [], 0, unknown);
        if (!ReserveStreams(streams)) return request.Fail(Status.StreamLimit, _epoch);
        foreach (var entry in news)
        {
            foreach (var stream in entry.Streams) SlotOf(stream).Push(entry.Position.Offset, 1);
        }

        _next = Math.Max(_next, request.To.Offset);
        return new TailResponse(Status.Ok, _epoch, Tail, [], 0, []);
    }

    private ref StreamSlot SlotOf(StreamId stream) =>
        ref CollectionsMarshal.GetValueRefOrAddDefault(_streams, stream.Value, out _);

    private ImmutableArray<StreamId> FindUnknown(ImmutableArray<StreamId> streams)
    {
        if (EveryStreamIsKnown) return [];
        ImmutableArray<StreamId>.Builder? unknown = null;
        foreach (var stream in streams)
        {
            if (_streams.ContainsKey(stream.Value)) continue;
            (unknown ??= ImmutableArray.CreateBuilder<StreamId>()).Add(stream);

            // The copier of a mirror names more; those that are left come with its next request.
            if (unknown.Count == MessageLimits.MaxItems) break;
        }

        return unknown?.DrainToImmutable() ?? [];
    }

    /// <summary>Only a new log adds streams at a grant; elsewhere they were handed over before.</summary>
    private bool ReserveStreams(ImmutableArray<StreamId> streams)
    {
        if (!EveryStreamIsKnown || _streams.Count + streams.Length <= _options.MaxStreams) return true;
        return _streams.Count + streams.Count(s => !_streams.ContainsKey(s.Value)) <= _options.MaxStreams;
    }

    /// <summary>Makes room by forgetting the oldest hand-over without a grant since: it can be handed over again,
    /// unchanged.</summary>
    private bool Evict()
    {
        while (_loaded.TryDequeue(out var stream))
        {
            if (_streams.TryGetValue(stream, out var slot) && !slot.HasGrant) return _streams.Remove(stream);
        }

        return false;
    }
}
