namespace Salus.Protocol;

/// <summary>Ends the generations of a region below the frame's at one store: their records are refused from the answer
/// on, so what the store shows of them is final (S8). Idempotent.</summary>
public sealed record SealRegionRequest(Epoch Epoch, RegionKey Region)
    : Request<SealRegionResponse>(SalusOpcode.Seal, Epoch)
{
    public override void WriteBody(ref WireWriter w) => w.Region(Region);

    internal static SealRegionRequest Read(Epoch epoch, ref WireReader r) => new(epoch, r.Region());

    public override Response ReadResponse(Status status, Epoch epoch, ref WireReader r) => status == Status.Ok
        ? new SealRegionResponse(status, epoch) { Generation = r.Epoch(), LastIndex = r.Number() }
        : Fail(status, epoch);

    public override Response Fail(Status status, Epoch epoch) => new SealRegionResponse(status, epoch);
}

/// <summary>The seal is durable.</summary>
public sealed record SealRegionResponse(Status Status, Epoch Epoch) : Response(Status, Epoch)
{
    /// <summary>The generation of the newest record that the store has of the region.</summary>
    public Epoch Generation { get; init; }

    /// <summary>The index of that record; 0: none.</summary>
    public long LastIndex { get; init; }

    public override void WriteBody(ref WireWriter w)
    {
        if (!IsOk) return;
        w.Epoch(Generation);
        w.Int64(LastIndex);
    }
}
