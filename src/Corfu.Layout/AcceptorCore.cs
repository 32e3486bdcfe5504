using System.Collections.Immutable;
using Corfu.Protocol;

namespace Corfu.Layout;

/// <summary>
/// One acceptor of the projection store: a Paxos register per epoch (R12). Pure: one request in, one answer and the
/// records behind it out; not thread-safe. Who may vote on a slot is the proposers' business: the acceptors named in
/// the epoch before.
/// </summary>
public sealed class AcceptorCore(AcceptorOptions? options = null)
{
    /// <summary>A decided slot has no ballots any more: they have nothing left to say.</summary>
    private sealed class Slot
    {
        public Ballot Promised;
        public Ballot Accepted;
        public Projection? Value;
        public bool IsDecided;
    }

    private readonly AcceptorOptions _options = options ?? new AcceptorOptions();

    // Ordered, and nothing below _floor; _latest is the newest decided value ever seen, and stays when its slot is
    // pruned.
    private readonly SortedDictionary<long, Slot> _slots = [];
    private Projection? _latest;
    private Epoch _floor;

    /// <summary>The newest decided projection that this acceptor knows.</summary>
    public Projection? Latest => _latest;

    public Epoch Floor => _floor;

    public AcceptorAnswer Handle(Request request) => request switch
    {
        LatestRequest or WatchRequest => Plain(LatestResponse()),
        LayoutRequest { Slot.Value: < 1 } invalid => Plain(invalid.Fail(Status.BadRequest, Known)),
        LayoutRequest pruned when pruned.Slot < _floor => Plain(
            new LayoutResponse(Status.Superseded, Known, null, _latest)),
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

    private Epoch Known => _latest?.Epoch ?? Epoch.None;

    private AcceptorAnswer Prepare(PrepareRequest request)
    {
        if (IsFull(request.Slot)) return Plain(request.Fail(Status.Overloaded, Known));
        var slot = _slots.GetValueOrDefault(request.Slot.Value);

        // A decided slot is beyond ballots: the answer says so, and nothing has to be remembered.
        if (slot is { IsDecided: true }) return Plain(Answer(Status.Ok, request.Slot));
        if (slot is not null && request.Ballot < slot.Promised) return Plain(Answer(Status.Outbid, request.Slot));
        if (request.Ballot <= default(Ballot)) return Plain(request.Fail(Status.BadRequest, Known));
        if (slot is not null && request.Ballot == slot.Promised) return Plain(Answer(Status.Ok, request.Slot));
        return Record(Status.Ok, request.Slot, new PromiseRecord(request.Slot, request.Ballot));
    }

    private AcceptorAnswer Accept(AcceptRequest request)
    {
        if (IsFull(request.Slot)) return Plain(request.Fail(Status.Overloaded, Known));
        var slot = _slots.GetValueOrDefault(request.Slot.Value);
        if (slot is { IsDecided: true }) return Plain(Answer(Status.Ok, request.Slot));
        if (slot is not null && request.Ballot < slot.Promised) return Plain(Answer(Status.Outbid, request.Slot));
        if (request.Ballot <= default(Ballot)) return Plain(request.Fail(Status.BadRequest, Known));
        if (slot is not null && slot.Accepted == request.Ballot)
        {
            // One ballot has one value; a second one is a proposer's bug and must not be hidden.
            return Plain(Answer(request.Value.Equals(slot.Value) ? Status.Ok : Status.Conflict, request.Slot));
        }

        return Record(Status.Ok, request.Slot, new AcceptRecord(request.Ballot, request.Value));
    }

    private AcceptorAnswer Decided(DecidedRequest request)
    {
        if (_slots.GetValueOrDefault(request.Slot.Value) is { IsDecided: true } slot)
            return Plain(Answer(request.Value.Equals(slot.Value) ? Status.Ok : Status.Conflict, request.Slot));
        var records = ImmutableArray.Create<AcceptorRecord>(new DecidedRecord(request.Value));
        Replay(records[0]);
        if (_slots.Count > 2 * _options.KeptSlots && Known.Value - _options.KeptSlots > _floor.Value)
        {
            // Whatever lies below a decided slot is settled; who still asks is told the way forward.
            records = records.Add(new FloorRecord(new Epoch(Known.Value - _options.KeptSlots)));
            Replay(records[1]);
        }

        // The slot may have been pruned just now; its answer is that it is known.
        return new AcceptorAnswer(Answer(Status.Ok, request.Slot), records);
    }

    private bool IsFull(Epoch slot) =>
        slot > Known && !_slots.ContainsKey(slot.Value)
            && _slots.Keys.Count(number => number > Known.Value) >= _options.MaxOpenSlots;

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

    private AcceptorAnswer Record(Status status, Epoch slot, AcceptorRecord record)
    {
        Replay(record);
        return new AcceptorAnswer(Answer(status, slot), [record]);
    }

    private LayoutResponse LatestResponse()
    {
        Epoch? highest = _slots.Count == 0 ? null : new Epoch(_slots.Keys.Last());
        return highest is { } slot ? Answer(Status.Ok, slot) : new LayoutResponse(Status.Ok, Known, null, _latest);
    }

    private LayoutResponse Answer(Status status, Epoch number)
    {
        var slot = _slots.GetValueOrDefault(number.Value);
        var state = slot is null
            ? null
            : new SlotState(number, slot.Promised, slot.Accepted, slot.Value, slot.IsDecided);
        return new LayoutResponse(status, Known, state, _latest);
    }

    private static AcceptorAnswer Plain(Response response) => new(response, []);
}
