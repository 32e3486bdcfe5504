namespace Corfu.Protocol;

/// <summary>State of a unit for people and tools; answered at any epoch.</summary>
public sealed record UnitInfoRequest(Epoch Epoch) : Request<UnitInfoResponse>(Opcode.UnitInfo, Epoch)
{
    public override Response ReadResponse(Status status, Epoch epoch, ref WireReader r) => status switch
    {
        Status.Ok => new UnitInfoResponse(status, epoch, r.Epoch(), r.Epoch(), r.Position(), r.Position(), r.Int64(),
            r.Int64())
        {
            Health = ReadHealth(ref r),
            CorruptPages = r.Int64(),
            Reason = r.Reason(),
        },
        Status.Failed => UnitInfoResponse.Failed(epoch, r.Remaining > 0 ? r.Reason() : ""),
        _ => Fail(status, epoch),
    };

    public override Response Fail(Status status, Epoch epoch) => UnitInfoResponse.Without(status, epoch);

    private static UnitHealth ReadHealth(ref WireReader r)
    {
        var health = (UnitHealth)r.Byte();
        return health <= UnitHealth.Failed ? health : throw new MalformedDataException("A unit's health is unknown.");
    }
}

/// <param name="SealedBelow">Epochs below this are refused.</param>
/// <param name="Installed">The epoch that is served, none before the first install.</param>
/// <param name="StoredBytes">Bytes of the log on disk, trimmed pages that are not yet released included.</param>
public sealed record UnitInfoResponse(Status Status, Epoch Epoch, Epoch SealedBelow, Epoch Installed, LogPosition End,
    LogPosition TrimMark, long Pages, long StoredBytes)
    : Response(Status, Epoch)
{
    public UnitHealth Health { get; init; }

    /// <summary>Pages known to be damaged and not yet repaired.</summary>
    public long CorruptPages { get; init; }

    /// <summary>Why the unit is not healthy, for people; also with <see cref="Status.Failed"/>.</summary>
    public string Reason { get; init; } = "";

    public override void WriteBody(ref WireWriter w)
    {
        if (Status == Status.Failed) w.Reason(Reason);
        if (!IsOk) return;
        w.Epoch(SealedBelow);
        w.Epoch(Installed);
        w.Position(End);
        w.Position(TrimMark);
        w.Int64(Pages);
        w.Int64(StoredBytes);
        w.Byte((byte)Health);
        w.Int64(CorruptPages);
        w.Reason(Reason);
    }

    /// <summary>The answer of a unit that serves nothing any more.</summary>
    public static UnitInfoResponse Failed(Epoch epoch, string reason) =>
        Without(Status.Failed, epoch) with { Health = UnitHealth.Failed, Reason = reason };

    internal static UnitInfoResponse Without(Status status, Epoch epoch) =>
        new(status, epoch, default, default, default, default, 0, 0);
}

/// <summary>The operations that a unit can still serve.</summary>
public enum UnitHealth : byte
{
    Ok = 0,

    /// <summary>The disk is nearly full: pages are refused until there is room again.</summary>
    ReadOnly = 1,

    /// <summary>A write or a sync failed: nothing is served any more. The unit must be replaced.</summary>
    Failed = 2,
}
