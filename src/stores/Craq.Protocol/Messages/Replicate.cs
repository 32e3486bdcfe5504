namespace Craq.Protocol;

/// <summary>Records from a member to its successor, in order, or none: a probe for the mark. Answered when the mark has
/// reached the last record.</summary>
/// <param name="Previous">The record before the first one, or the sender's last.</param>
/// <param name="Mark">Everything up to it is committed, as the sender knows.</param>
/// <param name="Records">Encoded, and slices of the connection's buffer at the receiver. A record whose values were
/// relayed (<see cref="ValuesRequest"/>) has its heads alone.</param>
public sealed record ReplicateRequest(Epoch Epoch, ChainId Chain, ObjectVersion Previous, ObjectVersion Mark,
    ImmutableArray<ReadOnlyMemory<byte>> Records)
    : Request<ReplicateResponse>(CraqOpcode.Replicate, Epoch)
{
    public const int MaxRecords = 4096;

    public override void WriteBody(ref WireWriter w)
    {
        w.Guid(Chain.Value);
        w.Version(Previous);
        w.Version(Mark);
        w.Array(Records, static (ref w, record) => w.Bytes(record.Span));
    }

    internal static ReplicateRequest Read(Epoch epoch, ref WireReader r) => new(epoch, new ChainId(r.Guid()),
        r.Version(), r.Version(), r.Array(4 + RecordCodec.FixedSize, static (ref r) => r.Bytes(), MaxRecords));

    public override Response ReadResponse(Status status, Epoch epoch, ref WireReader r) => status switch
    {
        Status.Ok or CraqStatus.Gap => new ReplicateResponse(status, epoch) { Last = r.Version(), Mark = r.Version() },
        _ => new ReplicateResponse(status, epoch) { View = ChainAnswer.ReadView(status, ref r) },
    };

    public override Response Fail(Status status, Epoch epoch) => new ReplicateResponse(status, epoch);
}

/// <summary>The receiver's state, also with <see cref="CraqStatus.Gap"/>.</summary>
public sealed record ReplicateResponse(Status Status, Epoch Epoch) : Response(Status, Epoch)
{
    /// <summary>The receiver's newest durable record.</summary>
    public ObjectVersion Last { get; init; }

    public ObjectVersion Mark { get; init; }

    public ChainView? View { get; init; }

    public override void WriteBody(ref WireWriter w)
    {
        if (Status is Status.Ok or CraqStatus.Gap)
        {
            w.Version(Last);
            w.Version(Mark);
        }

        ChainAnswer.WriteView(Status, View, ref w);
    }
}
