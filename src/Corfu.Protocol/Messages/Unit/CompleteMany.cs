using System.Collections.Immutable;

namespace Corfu.Protocol;

/// <summary>
/// Several <see cref="CompleteRequest"/>s in one frame: a bulk copy is made durable and answered together. Each entry
/// has an outcome of its own. The answer may stop early, but never before one entry. On the receiving side the bytes
/// are slices of the connection's buffer, valid only until the handler returns.
/// </summary>
public sealed record CompleteManyRequest(Epoch Epoch, ImmutableArray<ReadOnlyMemory<byte>> Entries)
    : Request<CompleteManyResponse>(Epoch)
{
    public override Opcode Opcode => Opcode.CompleteMany;

    public override void WriteBody(ref WireWriter w)
    {
        w.Int32(Entries.Length);
        foreach (var entry in Entries) w.Bytes(entry.Span);
    }

    internal static CompleteManyRequest Read(Epoch epoch, ref WireReader r)
    {
        var entries = ImmutableArray.CreateBuilder<ReadOnlyMemory<byte>>(r.Count(4, MessageLimits.MaxItems));
        for (var i = entries.Capacity; i > 0; i--) entries.Add(r.Bytes());
        return new CompleteManyRequest(epoch, entries.DrainToImmutable());
    }

    public override Response ReadResponse(Status status, Epoch epoch, ref WireReader r) =>
        CompleteManyResponse.Read(status, epoch, ref r);

    public override Response Fail(Status status, Epoch epoch) => new CompleteManyResponse(status, epoch, []);
}

/// <summary>
/// The outcomes of the request's first entries, in order. The unit had no room for the rest: the caller asks again for
/// them. There are no outcomes when not even the first entry was taken, and the status says why.
/// </summary>
public sealed record CompleteManyResponse(Status Status, Epoch Epoch, ImmutableArray<WriteOutcome> Outcomes)
    : Response(Status, Epoch)
{
    public override void WriteBody(ref WireWriter w)
    {
        if (!IsOk) return;
        w.Int32(Outcomes.Length);
        foreach (var outcome in Outcomes)
        {
            w.Byte((byte)outcome.Status);
            outcome.WriteStored(ref w);
        }
    }

    internal static CompleteManyResponse Read(Status status, Epoch epoch, ref WireReader r)
    {
        if (status != Status.Ok) return new CompleteManyResponse(status, epoch, []);
        var outcomes = ImmutableArray.CreateBuilder<WriteOutcome>(r.Count(1, MessageLimits.MaxItems));
        for (var i = outcomes.Capacity; i > 0; i--) outcomes.Add(WriteOutcome.Read((Status)r.Byte(), ref r));
        return new CompleteManyResponse(status, epoch, outcomes.DrainToImmutable());
    }
}
