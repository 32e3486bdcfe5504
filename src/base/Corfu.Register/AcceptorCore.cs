namespace Corfu.Register;

/// <param name="Records">Durable before the answer leaves, after the records of all earlier requests (R12).</param>
internal readonly record struct AcceptorResult(RegisterAnswer Answer, ImmutableArray<AcceptorRecord> Records);

/// <summary>An acceptor: a Paxos register per slot, of opaque values (R12). Pure: one request in, one answer and the
/// records behind it out; not thread-safe. The proposers know which acceptors' votes count for a slot.</summary>
internal sealed class AcceptorCore(AcceptorOptions? options = null)
{
    // A decided slot has no ballots any more.
    private sealed class Slot
    {
        public Ballot Promised;
        public Ballot Accepted;
        public RegisterValue? Value;
        public bool IsDecided;
    }

    /// <summary>No ballot is promised more rounds above the last promise of its slot.</summary>
    internal const long MaxRoundsAhead = 1L << 32;

    private readonly AcceptorOptions _options = options ?? new AcceptorOptions();

    // Ordered, and nothing below _floor; _newest is the newest decided value ever seen, and stays when its slot is
    // pruned.
    private readonly SortedDictionary<long, Slot> _slots = [];
    private RegisterValue? _newest;
    private Epoch _floor;

    /// <summary>The newest decided value that this acceptor knows.</summary>
    public RegisterValue? Newest => _newest;

    public Epoch Floor => _floor;

    public Epoch HighestSlot => new(_slots.Keys.LastOrDefault());

    private Epoch Known => _newest?.Slot ?? Epoch.None;

    public AcceptorResult Handle(RegisterRequest request) => request switch
    {
        ReadNewest or WatchNewest => Plain(Answer(Status.Ok, HighestSlot)),
        { Slot.Value: < 1 } => Plain(Refusal(Status.BadRequest)),
        _ when request.Slot < _floor => Plain(Answer(Status.Superseded, request.Slot)),
        PrepareBallot prepare => Prepare(prepare),
        AcceptValue accept => Accept(accept),
        LearnDecision decision => Learn(decision),
        _ => Plain(Answer(Status.Ok, request.Slot)),
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
            case AcceptRecord accept when accept.Value.Slot >= _floor:
                var accepted = SlotOf(accept.Value.Slot);
                if (accepted.IsDecided) break;
                if (accept.Ballot > accepted.Promised) accepted.Promised = accept.Ballot;
                if (accept.Ballot < accepted.Accepted) break;
                accepted.Accepted = accept.Ballot;
                accepted.Value = accept.Value;
                break;
            case DecidedRecord decided:
                SetDecided(decided.Value);
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
        if (_newest is not null) records.Add(new DecidedRecord(_newest));
        if (_floor > Epoch.None) records.Add(new FloorRecord(_floor));
        foreach (var (number, slot) in _slots)
        {
            if (slot.Promised > default(Ballot)) records.Add(new PromiseRecord(new Epoch(number), slot.Promised));
            if (slot.IsDecided) records.Add(new DecidedRecord(slot.Value!));
            else if (slot.Value is not null) records.Add(new AcceptRecord(slot.Accepted, slot.Value));
        }

        return records.DrainToImmutable();
    }

    private AcceptorResult Prepare(PrepareBallot request)
    {
        if (Refuse(request, request.Ballot, out var slot) is { } refused) return refused;
        return slot?.Promised == request.Ballot
            ? Plain(Answer(Status.Ok, request.Slot))
            : Record(request.Slot, new PromiseRecord(request.Slot, request.Ballot));
    }

    private AcceptorResult Accept(AcceptValue request)
    {
        if (Refuse(request, request.Ballot, out var slot) is { } refused) return refused;
        // A ballot has one value; a second one is a proposer's bug and must not be hidden.
        return slot?.Accepted == request.Ballot
            ? Plain(Answer(request.Value.Equals(slot.Value) ? Status.Ok : Status.Conflict, request.Slot))
            : Record(request.Slot, new AcceptRecord(request.Ballot, request.Value));
    }

    // Null: the ballot may be promised or voted for. A decided slot is beyond ballots, and its answer says so.
    private AcceptorResult? Refuse(RegisterRequest request, Ballot ballot, out Slot? slot)
    {
        slot = _slots.GetValueOrDefault(request.Slot.Value);
        if (IsFarAhead(request.Slot)) return Plain(Refusal(Status.Overloaded));
        if (slot is { IsDecided: true }) return Plain(Answer(Status.Ok, request.Slot));
        if (slot is not null && ballot < slot.Promised) return Plain(Answer(Status.Outbid, request.Slot));
        if (ballot <= default(Ballot)) return Plain(Refusal(Status.BadRequest));
        return Nearer(ballot, slot) is { } nearer
            ? Record(request.Slot, new PromiseRecord(request.Slot, nearer), Status.Outbid)
            : null;
    }

    private AcceptorResult Learn(LearnDecision request)
    {
        if (_slots.GetValueOrDefault(request.Slot.Value) is { IsDecided: true } slot)
            return Plain(Answer(request.Value.Equals(slot.Value) ? Status.Ok : Status.Conflict, request.Slot));
        if (request.Slot.Value - Known.Value > MessageLimits.EpochReach)
            return Plain(Refusal(Status.BadRequest));
        var decided = Record(request.Slot, new DecidedRecord(request.Value));
        var floor = Known.Value - _options.KeptSlots;
        if (_slots.Count <= 2 * _options.KeptSlots || floor <= _floor.Value) return decided;
        // All below a decided slot is settled; a proposer that asks for it gets the newest value. The slot itself may
        // be pruned here.
        var pruned = Record(request.Slot, new FloorRecord(new Epoch(floor)));
        return pruned with { Records = [.. decided.Records, .. pruned.Records] };
    }

    // An acceptor that is as far behind learns the newest decision from the next client that reads it.
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

    private void SetDecided(RegisterValue value)
    {
        // A replayed snapshot tells the newest one twice: both stand for one instance, which its owner decodes once.
        if (_newest is null || value.Slot >= _newest.Slot) _newest = value;
        if (value.Slot < _floor) return;
        var slot = SlotOf(value.Slot);
        slot.Value = value;
        slot.IsDecided = true;
        slot.Promised = slot.Accepted = default;
    }

    private Slot SlotOf(Epoch number)
    {
        if (!_slots.TryGetValue(number.Value, out var slot)) _slots.Add(number.Value, slot = new Slot());
        return slot;
    }

    private AcceptorResult Record(Epoch slot, AcceptorRecord record, Status status = Status.Ok)
    {
        Replay(record);
        return new AcceptorResult(Answer(status, slot), [record]);
    }

    private RegisterAnswer Answer(Status status, Epoch number)
    {
        var state = _slots.GetValueOrDefault(number.Value) is { } slot
            ? new RegisterState(number, slot.Promised, slot.Accepted, slot.Value, slot.IsDecided)
            : null;
        return new RegisterAnswer(status, Known, state, _newest);
    }

    private RegisterAnswer Refusal(Status status) => new(status, Known);

    private static AcceptorResult Plain(RegisterAnswer answer) => new(answer, []);
}
