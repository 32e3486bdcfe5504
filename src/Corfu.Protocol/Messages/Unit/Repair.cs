namespace Corfu.Protocol;

/// <summary>
/// Gives a unit back a page that it holds damaged, as another replica of the chain holds it, whole. Ok when the page is
/// good afterwards, also when it was so before. <see cref="Status.Conflict"/> when the entry is not the one that was
/// written there, <see cref="Status.Unwritten"/> where nothing ever was (that takes a complete),
/// <see cref="Status.Trimmed"/> where nothing is needed any more.
/// </summary>
public sealed record RepairRequest(Epoch Epoch, ReadOnlyMemory<byte> Entry) : AckRequest(Opcode.Repair, Epoch)
{
    public override void WriteBody(ref WireWriter w) => w.Bytes(Entry.Span);
}
