namespace Corfu.Protocol;

/// <summary>Several <see cref="CompleteRequest"/>s in one frame, made durable and answered together. The answer may
/// stop early, but never before one entry. The handler may use the bytes only until it returns.</summary>
public sealed record CompleteManyRequest(Epoch Epoch, ImmutableArray<ReadOnlyMemory<byte>> Entries)
    : Request<CompleteManyResponse>(Opcode.CompleteMany, Epoch)
{
    public override void WriteBody(ref WireWriter w) => w.Array(Entries, static (ref w, entry) => w.Bytes(entry.Span));

    internal static CompleteManyRequest Read(Epoch epoch, ref WireReader r) =>
        new(epoch, r.Array(4, static (ref r) => r.Bytes()));

    public override Response ReadResponse(Status status, Epoch epoch, ref WireReader r) => status == Status.Ok
        ? new CompleteManyResponse(status, epoch,
            r.Array(1, static (ref r) => WriteOutcome.Read((Status)r.Byte(), ref r)))
        : Fail(status, epoch);

    public override Response Fail(Status status, Epoch epoch) => new CompleteManyResponse(status, epoch, []);
}

/// <summary>The outcomes of the request's first entries, in order. The unit had no room for the rest; if not even the
/// first entry was taken, the status says why.</summary>
public sealed record CompleteManyResponse(Status Status, Epoch Epoch, ImmutableArray<WriteOutcome> Outcomes)
    : Response(Status, Epoch)
{
    public override void WriteBody(ref WireWriter w)
    {
        if (!IsOk) return;
        w.Array(Outcomes, static (ref w, outcome) =>
        {
            w.Byte((byte)outcome.Status);
            outcome.WriteStored(ref w);
        });
    }
}
