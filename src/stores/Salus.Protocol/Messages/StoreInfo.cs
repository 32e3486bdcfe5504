namespace Salus.Protocol;

/// <summary>Asks a store how it is.</summary>
public sealed record StoreInfoRequest(Epoch Epoch) : Request<StoreInfoResponse>(SalusOpcode.StoreInfo, Epoch)
{
    internal static StoreInfoRequest Read(Epoch epoch, ref WireReader r) => new(epoch);

    public override Response ReadResponse(Status status, Epoch epoch, ref WireReader r) => status == Status.Ok
        ? new StoreInfoResponse(status, epoch)
        {
            State = (StoreState)r.Byte(),
            Free = r.Number(),
            LogBytes = r.Number(),
            Regions = r.Array(StoredRegion.Size, StoredRegion.Read, StoredRegion.Most),
        }
        : Fail(status, epoch);

    public override Response Fail(Status status, Epoch epoch) => new StoreInfoResponse(status, epoch);
}

/// <summary>A store's state.</summary>
public sealed record StoreInfoResponse(Status Status, Epoch Epoch) : Response(Status, Epoch)
{
    public StoreState State { get; init; }

    /// <summary>Bytes that the store takes before it refuses.</summary>
    public long Free { get; init; }

    /// <summary>Bytes of the log's files.</summary>
    public long LogBytes { get; init; }

    public ImmutableArray<StoredRegion> Regions { get; init; } = [];

    public override void WriteBody(ref WireWriter w)
    {
        if (!IsOk) return;
        w.Byte((byte)State);
        w.Int64(Free);
        w.Int64(LogBytes);
        w.Array(Regions, static (ref w, region) => region.Write(ref w));
    }
}

/// <summary>The condition of a store. Numbers are part of the wire format.</summary>
public enum StoreState : byte
{
    Serving = 0,

    /// <summary>The log lacks something that was acknowledged: what has a certificate is shown to recoveries, and
    /// nothing new is taken.</summary>
    Salvaged = 1,

    /// <summary>A write or a sync has failed.</summary>
    Failed = 2,
}

/// <summary>A region that a store has something of.</summary>
/// <param name="Sealed">Records of lower generations are refused.</param>
/// <param name="LastIndex">The newest record's; 0: none.</param>
public readonly record struct StoredRegion(RegionKey Region, Epoch Sealed, long LastIndex)
{
    /// <summary>Regions of one store.</summary>
    public const int Most = 65536;

    internal const int Size = 16 + 4 + 8 + 8 + 8 + 8;

    /// <summary>Damaged pieces, files or records, that no other store has given yet.</summary>
    public long Damaged { get; init; }

    /// <summary>Damaged pieces that other stores have given, since the process has started.</summary>
    public long Mended { get; init; }

    internal void Write(ref WireWriter w)
    {
        w.Region(Region);
        w.Epoch(Sealed);
        w.Int64(LastIndex);
        w.Int64(Damaged);
        w.Int64(Mended);
    }

    internal static StoredRegion Read(ref WireReader r) => new(r.Region(), r.Epoch(), r.Number())
    {
        Damaged = r.Number(),
        Mended = r.Number(),
    };
}
