namespace Corfu.Layout;

/// <summary>A fact that an acceptor must not forget (R12). Replaying records is idempotent, and a record that says less
/// than is already known changes nothing. Bytes: kind (1), fields; a projection is a length (4) and its canonical
/// encoding.</summary>
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
                w.Bytes(ProjectionCodec.Encode(accept.Value));
                break;
            case DecidedRecord decided:
                w.Byte(Decided);
                w.Bytes(ProjectionCodec.Encode(decided.Value));
                break;
            case FloorRecord floor:
                w.Byte(Floor);
                w.Epoch(floor.Floor);
                break;
        }
    }

    public static AcceptorRecord Read(ref WireReader r) => r.Byte() switch
    {
        Promise => new PromiseRecord(r.Epoch(), Ballot.Read(ref r)),
        Accept => new AcceptRecord(Ballot.Read(ref r), ProjectionCodec.Decode(r.Bytes())),
        Decided => new DecidedRecord(ProjectionCodec.Decode(r.Bytes())),
        Floor => new FloorRecord(r.Epoch()),
        var kind => throw new MalformedDataException($"Acceptor record kind {kind} is unknown."),
    };
}

/// <summary>No lower ballot will be taken for the slot.</summary>
internal sealed record PromiseRecord(Epoch Slot, Ballot Ballot) : AcceptorRecord;

/// <summary>The slot's value as of this ballot; a promise as well.</summary>
internal sealed record AcceptRecord(Ballot Ballot, Projection Value) : AcceptorRecord;

/// <summary>The value is the slot's for ever.</summary>
internal sealed record DecidedRecord(Projection Value) : AcceptorRecord;

/// <summary>Slots below are pruned.</summary>
internal sealed record FloorRecord(Epoch Floor) : AcceptorRecord;
