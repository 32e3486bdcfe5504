namespace Salus.Store.Log;

/// <summary>A store's records in its log. Of a region's own records the header has index and generation; bodies of all
/// other kinds begin with the region.</summary>
internal sealed class StoreScanRules : ScanRules
{
    /// <summary>A region at the beginning of a body.</summary>
    public const int Prefix = 16 + 4;

    public const string Remedy =
        "Do not delete it: recoveries can still read what it proves. Keep it running until no region needs it, then "
        + "format a new store.";

    public static readonly StoreScanRules Instance = new();

    public override byte OpenKind => (byte)StoreRecordKind.Begin;

    public override string Cure => Remedy;

    public override string Owner => "store";

    public static bool IsOfARegionsLog(byte kind) => kind is > 0 and <= (byte)StoreRecordKind.Compact;

    public override bool IsIntact(long address, in FramedHeader header, ReadOnlyMemory<byte> body)
    {
        try
        {
            return SubBatch.Decode(RegionRecord.Decode(body).Content, out _).FirstDamaged() < 0;
        }
        catch (MalformedDataException error)
        {
            throw new LogDamagedException(
                $"The record at address {address} holds no batch, although its check fits: {error.Message} {Remedy}",
                address);
        }
    }
}
