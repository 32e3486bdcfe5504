namespace Salus.Protocol;

/// <summary>Reads records of a region's log whole, for a recovery or a member that lacks them.</summary>
/// <param name="MaxBytes">The answer ends soon behind as many bytes, but not before one record.</param>
public sealed record ReadRecordsRequest(
    Epoch Epoch, RegionKey Region, ImmutableArray<RecordName> Records, int MaxBytes)
    : Request<ReadRecordsResponse>(SalusOpcode.ReadRecords, Epoch)
{
    public const int MaxRecords = 1024;

    public override bool AnswerKeepsInput() => true;

    public override void WriteBody(ref WireWriter w)
    {
        w.Region(Region);
        w.Array(Records, static (ref w, name) =>
        {
            w.Epoch(name.Generation);
            w.Int64(name.Index);
        });
        w.Int32(MaxBytes);
    }

    internal static ReadRecordsRequest Read(Epoch epoch, ref WireReader r) => new(epoch, r.Region(),
        r.Array(16, static (ref r) => new RecordName(r.Epoch(), r.Number()), MaxRecords), r.Int32());

    public override Response ReadResponse(Status status, Epoch epoch, ref WireReader r) => status == Status.Ok
        ? new ReadRecordsResponse(status, epoch) { Records = r.Array(4, static (ref r) => r.Bytes(), MaxRecords) }
        : Fail(status, epoch);

    public override Response Fail(Status status, Epoch epoch) => new ReadRecordsResponse(status, epoch);
}

/// <summary>A record by its generation and index: one of them alone names no content (S9).</summary>
public readonly record struct RecordName(Epoch Generation, long Index);

/// <summary>The records in the order of the request, as far as the answer has room.</summary>
public sealed record ReadRecordsResponse(Status Status, Epoch Epoch) : Response(Status, Epoch)
{
    /// <summary>Each an encoded <see cref="RegionRecord"/>; no bytes: the store does not have it, or not
    /// intact.</summary>
    public ImmutableArray<ReadOnlyMemory<byte>> Records { get; init; } = [];

    public override void WriteBody(ref WireWriter w)
    {
        if (IsOk) w.Array(Records, static (ref w, record) => w.Bytes(record.Span));
    }
}
