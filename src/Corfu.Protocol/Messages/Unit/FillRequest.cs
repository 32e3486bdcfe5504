namespace Corfu.Protocol;

/// <summary>Closes a hole with junk; sent to the head first (R10). The entry's kind is junk and its epoch the request's.</summary>
public sealed record FillRequest(Epoch Epoch, ReadOnlyMemory<byte> Entry) : EntryRequest(Epoch, Entry)
{
    public override Opcode Opcode => Opcode.Fill;
}
