using Corfu.Protocol;

namespace Corfu.Layout;

/// <summary>Bytes of one record: kind (1), fields. A projection is a length (4) and its canonical encoding.</summary>
internal static class AcceptorRecordCodec
{
    private const byte Promise = 1;
    private const byte Accept = 2;
    private const byte Decided = 3;
    private const byte Floor = 4;

    public static void Write(ref WireWriter w, AcceptorRecord record)
    {
        switch (record)
        {
            case PromiseRecord promise:
                w.Byte(Promise);
                w.Epoch(promise.Slot);
                WriteBallot(ref w, promise.Ballot);
                break;
            case AcceptRecord accept:
                w.Byte(Accept);
                WriteBallot(ref w, accept.Ballot);
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
            default:
                throw new ArgumentException($"A {record.GetType().Name} has no format.", nameof(record));
        }
    }

    public static AcceptorRecord Read(ref WireReader r)
    {
        var kind = r.Byte();
        switch (kind)
        {
            case Promise: return new PromiseRecord(r.Epoch(), ReadBallot(ref r));
            case Accept: return new AcceptRecord(ReadBallot(ref r), ProjectionCodec.Decode(r.Bytes()));
            case Decided: return new DecidedRecord(ProjectionCodec.Decode(r.Bytes()));
            case Floor: return new FloorRecord(r.Epoch());
            default: throw new MalformedDataException($"Acceptor record kind {kind} is unknown.");
        }
    }

    private static void WriteBallot(ref WireWriter w, Ballot ballot)
    {
        w.Int64(ballot.Round);
        w.Guid(ballot.Proposer);
    }

    private static Ballot ReadBallot(ref WireReader r) => new(r.Int64(), r.Guid());
}
