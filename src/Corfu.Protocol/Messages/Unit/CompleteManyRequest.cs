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
