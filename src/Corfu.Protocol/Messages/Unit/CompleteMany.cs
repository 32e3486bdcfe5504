using System.Collections.Immutable;

namespace Corfu.Protocol;

/// <summary>
/// So many <see cref="CompleteRequest"/>s, one after the other, in one frame: what is copied in bulk is made durable and answered together. Each
/// entry stands for itself. The answer may stop early, but never before one entry. On the receiving side the bytes are slices of the
/// connection's buffer, valid only until the handler returns.
/// </summary>
public sealed record CompleteManyRequest(Epoch Epoch, ImmutableArray<ReadOnlyMemory<byte>> Entries) : Request<CompleteManyResponse>(Epoch)
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

    public override Response ReadResponse(Status status, Epoch epoch, ref WireReader r) => CompleteManyResponse.Read(status, epoch, ref r);

    public override Response Fail(Status status, Epoch epoch) => new CompleteManyResponse(status, epoch, []);
}

/// <summary>
/// Of the first entries of the request, what became of each. Those behind were not looked at, for want of room: ask again. Where that was so of
/// the first one, or the whole request was refused (sealed, failed...), the status says why and there are none.
/// </summary>
public sealed record CompleteManyResponse(Status Status, Epoch Epoch, ImmutableArray<WriteOutcome> Outcomes) : Response(Status, Epoch)
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
