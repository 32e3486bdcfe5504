namespace Craq.Storage;

/// <summary>A node's records in its log. The header's number is the version, its epoch the kind of a moved original;
/// the body begins with the chain's id.</summary>
internal sealed class NodeScanRules : ScanRules
{
    /// <summary>Bytes of a body before the chain's record: the chain's id.</summary>
    public const int Prefix = 16;

    public const string Remedy =
        "Do not start this node on this folder: format a new one, and the chains copy their objects to it.";

    public static readonly NodeScanRules Instance = new();

    public override byte OpenKind => (byte)StoreRecordKind.Open;

    public override string Cure => Remedy;

    public override string Owner => "node";

    /// <summary>How much of a body the record's check covers: values have checks of their own.</summary>
    public static int CheckedLength(StoreRecordKind kind, ReadOnlySpan<byte> body) =>
        kind is StoreRecordKind.Chain or StoreRecordKind.Copy && RecordCodec.AreHeadsIntact(body, out var heads)
            ? Prefix + heads
            : Prefix + body.Length;

    public static StoreRecord Record(in FramedRecord record, in FramedPlace place)
    {
        var isMoved = (StoreRecordKind)record.Kind == StoreRecordKind.Moved;
        var body = record.Body[Math.Min(Prefix, record.Body.Length)..];
        return new StoreRecord((StoreRecordKind)(isMoved ? (byte)record.Epoch : record.Kind),
            new ChainId(record.Body.Length < Prefix ? Guid.Empty : new Guid(record.Body.Span[..Prefix])),
            new ObjectVersion(record.Number), body, PlaceOf(place.Address, record.Body.Length))
        {
            IsMoved = isMoved,
        };
    }

    public static StorePlace PlaceOf(long address, int bodyLength)
    {
        var begin = address + RecordFraming.HeaderSize + Prefix;
        return new StorePlace(begin, bodyLength - Prefix,
            IRecordLog.Align(address + RecordFraming.HeaderSize + bodyLength));
    }

    /// <summary>The address of the record's header.</summary>
    public static long HeaderOf(in StorePlace place) => place.Address - RecordFraming.HeaderSize - Prefix;

    public override bool IsIntact(long address, in FramedHeader header, ReadOnlyMemory<byte> body)
    {
        if (body.Length < Prefix || !RecordCodec.AreHeadsIntact(body.Span[Prefix..], out var heads)
            || Prefix + heads != header.CheckedLength)
        {
            throw new LogDamagedException(
                $"The record at address {address} holds no record of a chain, although its check fits: another program "
                + $"has written here. {Remedy}", address);
        }

        for (var write = 0; RecordParts.TryFind(body[Prefix..], write, out var part); write++)
        {
            if (!part.IsIntact) return false;
        }

        return true;
    }
}
