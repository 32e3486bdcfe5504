namespace Craq.Protocol;

/// <summary>Reads records of a member, in order: for a head that collects, and for learners.</summary>
/// <param name="After">Records behind this one.</param>
/// <param name="MaxBytes">The answer ends soon behind as many bytes, but not before one record.</param>
/// <param name="CommittedOnly">Records up to the member's mark: learners hold no others.</param>
public sealed record FetchRequest(
    Epoch Epoch, ChainId Chain, ObjectVersion After, int MaxBytes, bool CommittedOnly)
    : Request<FetchResponse>(CraqOpcode.Fetch, Epoch)
{
    public override void WriteBody(ref WireWriter w)
    {
        w.Guid(Chain.Value);
        w.Version(After);
        w.Int32(MaxBytes);
        w.Bool(CommittedOnly);
    }

    public override bool AnswerKeepsInput() => true;

    internal static FetchRequest Read(Epoch epoch, ref WireReader r) =>
        new(epoch, new ChainId(r.Guid()), r.Version(), r.Int32(), r.Bool());

    public override Response ReadResponse(Status status, Epoch epoch, ref WireReader r) => status == Status.Ok
        ? new FetchResponse(status, epoch)
        {
            Last = r.Version(),
            Mark = r.Version(),
            Records = r.Array(4 + RecordCodec.FixedSize, static (ref r) => r.Bytes(), ReplicateRequest.MaxRecords),
        }
        : new FetchResponse(status, epoch) { View = ChainAnswer.ReadView(status, ref r) };

    public override Response Fail(Status status, Epoch epoch) => new FetchResponse(status, epoch);
}

/// <summary>Records in the order of the chain; <see cref="CraqStatus.Forgotten"/>: the member's log no longer has
/// those behind the one asked for.</summary>
public sealed record FetchResponse(Status Status, Epoch Epoch) : Response(Status, Epoch)
{
    /// <summary>The member's newest durable record.</summary>
    public ObjectVersion Last { get; init; }

    public ObjectVersion Mark { get; init; }

    public ImmutableArray<ReadOnlyMemory<byte>> Records { get; init; } = [];

    public ChainView? View { get; init; }

    public override void WriteBody(ref WireWriter w)
    {
        if (IsOk)
        {
            w.Version(Last);
            w.Version(Mark);
            w.Array(Records, static (ref w, record) => w.Bytes(record.Span));
        }

        ChainAnswer.WriteView(Status, View, ref w);
    }
}
