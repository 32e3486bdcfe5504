namespace Corfu.Layout;

/// <param name="Records">Durable before the response leaves, after the records of all earlier requests (R12).</param>
internal readonly record struct AcceptorAnswer(Response Response, ImmutableArray<AcceptorRecord> Records);

/// <summary>An acceptor of the projection store: a Paxos register per epoch (R12). Pure: one request in, one answer and
/// the records behind it out; not thread-safe. The proposers know which votes count: those of the acceptors of the
/// epoch before.</summary>
internal sealed class AcceptorCore(AcceptorOptions? options = null)
{
    // A decided slot has no ballots any more.
    private sealed class Slot
    {
        public Ballot Promised;
        public Ballot Accepted;
        public Projection? Value;
        public bool IsDecided;
    }

    /// <summary>No ballot is promised more rounds above the last promise of its slot.</summary>
    internal const long MaxRoundsAhead = 1L << 32;

    private readonly AcceptorOptions _options = options ?? new AcceptorOptions();

    // Ordered, and nothing below _floor; _latest is the newest decided value ever seen, and stays when its slot is
    // pruned.
    private readonly SortedDictionary<long, Slot> _slots = [];
    private Projection? _latest;
    private Epoch _floor;

    /// <summary>The newest decided projection that this acceptor knows.</summary>
    public Projection? Latest => _latest;

    public Epoch Floor => _floor;

    private Epoch Known => _latest?.Epoch ?? Epoch.None;

    public AcceptorAnswer Handle(Request request) => request switch
    {
        LatestRequest or WatchRequest => Plain(Answer(Status.Ok, new Epoch(_slots.Keys.LastOrDefault()))),
        LayoutRequest { Slot.Value: < 1 } invalid => Plain(invalid.Fail(Status.BadRequest, Known)),
        LayoutRequest pruned when pruned.Slot < _floor => Plain(Answer(Status.Superseded, pruned.Slot)),
        PrepareRequest prepare => Prepare(prepare),
        AcceptRequest accept => Accept(accept),
        DecidedRequest decided => Decided(decided),
        ReadSlotRequest read => Plain(Answer(Status.Ok, read.Slot)),
        _ => Plain(request.Fail(Status.Unsupported, Known)),
    };

    /// <summary>Applies a record that was read back from the log.</summary>
    public void Replay(AcceptorRecord record)
    {
        switch (record)
        {
            case PromiseRecord promise when promise.Slot >= _floor:
                var promised = SlotOf(promise.Slot);
                if (!promised.IsDecided && promise.Ballot > promised.Promised) promised.Promised = promise.Ballot;
                break;
            case AcceptRecord accept when accept.Value.Epoch >= _floor:
                var accepted = SlotOf(accept.Value.Epoch);
                if (accepted.IsDecided) break;
                if (accept.Ballot > accepted.Promised) accepted.Promised = accept.Ballot;
                if (accept.Ballot < accepted.Accepted) break;
                accepted.Accepted = accept.Ballot;
                accepted.Value = accept.Value;
                break;
            case DecidedRecord decided:
                Learn(decided.Value);
                break;
            case FloorRecord floor when floor.Floor > _floor:
                _floor = floor.Floor;
                while (_slots.Count > 0 && _slots.First().Key < _floor.Value) _slots.Remove(_slots.First().Key);
                break;
        }
    }

    /// <summary>The whole state as records: replayed into an empty core, they make an equal one.</summary>
    public ImmutableArray<AcceptorRecord> Snapshot()
    {
        var records = ImmutableArray.CreateBuilder<AcceptorRecord>();
        if (_latest is not null) records.Add(new DecidedRecord(_latest));
        if (_floor > Epoch.None) records.Add(new FloorRecord(_floor));
        foreach (var (number, slot) in _slots)
        {
            if (slot.Promised > default(Ballot)) records.Add(new PromiseRecord(new Epoch(number), slot.Promised));
            if (slot.IsDecided) records.Add(new DecidedRecord(slot.Value!));
            else if (slot.Value is not null) records.Add(new AcceptRecord(slot.Accepted, slot.Value));
        }

        return records.DrainToImmutable();
    }

    private AcceptorAnswer Prepare(PrepareRequest request)
    {
        if (Refuse(request, request.Ballot, out var slot) is { } refused) return refused;
        return slot?.Promised == request.Ballot
            ? Plain(Answer(Status.Ok, request.Slot))
            : Record(request.Slot, new PromiseRecord(request.Slot, request.Ballot));
    }

    private AcceptorAnswer Accept(AcceptRequest request)
    {
        if (Refuse(request, request.Ballot, out var slot) is { } refused) return refused;
        // A ballot has one value; a second one is a proposer's bug and must not be hidden.
        return slot?.Accepted == request.Ballot
            ? Plain(Answer(request.Value.Equals(slot.Value) ? Status.Ok : Status.Conflict, request.Slot))
            : Record(request.Slot, new AcceptRecord(request.Ballot, request.Value));
    }

    // Null: the ballot may be promised or voted for. A decided slot is beyond ballots, and its answer says so.
    private AcceptorAnswer? Refuse(LayoutRequest request, Ballot ballot, out Slot? slot)
    {
        slot = _slots.GetValueOrDefault(request.Slot.Value);
        if (IsFarAhead(request.Slot)) return Plain(request.Fail(Status.Overloaded, Known));
        if (slot is { IsDecided: true }) return Plain(Answer(Status.Ok, request.Slot));
        if (slot is not null && ballot < slot.Promised) return Plain(Answer(Status.Outbid, request.Slot));
        if (ballot <= default(Ballot)) return Plain(request.Fail(Status.BadRequest, Known));
        return Nearer(ballot, slot) is { } nearer
            ? Record(request.Slot, new PromiseRecord(request.Slot, nearer), Status.Outbid)
            : null;
    }

    private AcceptorAnswer Decided(DecidedRequest request)
    {
        if (_slots.GetValueOrDefault(request.Slot.Value) is { IsDecided: true } slot)
            return Plain(Answer(request.Value.Equals(slot.Value) ? Status.Ok : Status.Conflict, request.Slot));
        if (request.Slot.Value - Known.Value > MessageLimits.EpochReach)
            return Plain(request.Fail(Status.BadRequest, Known));
        var decided = Record(request.Slot, new DecidedRecord(request.Value));
        var floor = Known.Value - _options.KeptSlots;
        if (_slots.Count <= 2 * _options.KeptSlots || floor <= _floor.Value) return decided;
        // All below a decided slot is settled; a proposer that asks for it gets the newest projection. The slot itself
        // may be pruned here.
        var pruned = Record(request.Slot, new FloorRecord(new Epoch(floor)));
        return pruned with { Records = [.. decided.Records, .. pruned.Records] };
    }

    // An acceptor that is as far behind learns the newest decision from the next client that reads the layout.
    private bool IsFarAhead(Epoch slot) => slot.Value - Known.Value > _options.MaxOpenSlots;

    /// <summary>Proposers outbid each other by one round. A ballot at the highest round would leave none to outbid it,
    /// so the acceptor promises a round on the way to it and refuses. A proposer that has to come as far tries
    /// again.</summary>
    /// <returns>The ballot promised instead; null for a ballot within reach.</returns>
    private static Ballot? Nearer(Ballot ballot, Slot? slot)
    {
        if (Planted.Is("any-ballot-is-promised")) return null;
        var promised = slot?.Promised.Round ?? 0;
        return ballot.Round - promised > MaxRoundsAhead ? ballot with { Round = promised + MaxRoundsAhead } : null;
    }

    private void Learn(Projection value)
    {
        if (_latest is null || value.Epoch > _latest.Epoch) _latest = value;
        if (value.Epoch < _floor) return;
        var slot = SlotOf(value.Epoch);
        slot.Value = value;
        slot.IsDecided = true;
        slot.Promised = slot.Accepted = default;
    }

    private Slot SlotOf(Epoch number)
    {
        if (!_slots.TryGetValue(number.Value, out var slot)) _slots.Add(number.Value, slot = new Slot());
        return slot;
    }

    private AcceptorAnswer Record(Epoch slot, AcceptorRecord record, Status status = Status.Ok)
    {
        Replay(record);
        return new AcceptorAnswer(Answer(status, slot), [record]);
    }

    private LayoutResponse Answer(Status status, Epoch number)
    {
        var state = _slots.GetValueOrDefault(number.Value) is { } slot
            ? new SlotState(number, slot.Promised, slot.Accepted, slot.Value, slot.IsDecided)
            : null;
        return new LayoutResponse(status, Known, state, _latest);
    }

    private static AcceptorAnswer Plain(Response response) => new(response, []);
}
