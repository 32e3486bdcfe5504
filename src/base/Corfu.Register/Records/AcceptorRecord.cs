namespace Corfu.Register;

/// <summary>A fact that an acceptor must not forget (R12). Replaying records is idempotent, and a record that says less
/// than is already known changes nothing. Bytes: kind (1), fields; a value is a length (4) and its bytes, which
/// say its slot.</summary>
internal abstract record AcceptorRecord
{
    private const byte Promise = 1;
    private const byte Accept = 2;
    private const byte Decided = 3;
    private const byte Floor = 4;

    public void Write(ref WireWriter w)
    {
        switch (this)
        {
            case PromiseRecord promise:
                w.Byte(Promise);
                w.Epoch(promise.Slot);
                promise.Ballot.Write(ref w);
                break;
            case AcceptRecord accept:
                w.Byte(Accept);
                accept.Ballot.Write(ref w);
                w.Bytes(accept.Value.Bytes.Span);
                break;
            case DecidedRecord decided:
                w.Byte(Decided);
                w.Bytes(decided.Value.Bytes.Span);
                break;
            case FloorRecord floor:
                w.Byte(Floor);
                w.Epoch(floor.Floor);
                break;
        }
    }

    public static AcceptorRecord Read(ref WireReader r, IRegisterOwner owner) => r.Byte() switch
    {
        Promise => new PromiseRecord(r.Epoch(), Ballot.Read(ref r)),
        Accept => new AcceptRecord(Ballot.Read(ref r), owner.ReadValue(r.Bytes())),
        Decided => new DecidedRecord(owner.ReadValue(r.Bytes())),
        Floor => new FloorRecord(r.Epoch()),
        var kind => throw new MalformedDataException($"Acceptor record kind {kind} is unknown."),
    };
}

/// <summary>No lower ballot will be taken for the slot.</summary>
internal sealed record PromiseRecord(Epoch Slot, Ballot Ballot) : AcceptorRecord;

/// <summary>The slot's value as of this ballot; a promise as well.</summary>
internal sealed record AcceptRecord(Ballot Ballot, RegisterValue Value) : AcceptorRecord;

/// <summary>The value is the slot's for ever.</summary>
internal sealed record DecidedRecord(RegisterValue Value) : AcceptorRecord;

/// <summary>Slots below are pruned.</summary>
internal sealed record FloorRecord(Epoch Floor) : AcceptorRecord;
