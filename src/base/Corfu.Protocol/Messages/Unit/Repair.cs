namespace Corfu.Protocol;

/// <summary>Replaces a damaged page by another replica's entry. Ok when the page is good afterwards, also when it was
/// before; <see cref="Status.Conflict"/> when another entry was written there, <see cref="Status.Unwritten"/> where
/// none was (that takes a complete), <see cref="Status.Trimmed"/> after a trim.</summary>
public sealed record RepairRequest(Epoch Epoch, ReadOnlyMemory<byte> Entry) : AckRequest(Opcode.Repair, Epoch)
{
    public override void WriteBody(ref WireWriter w) => w.Bytes(Entry.Span);
}
