namespace Corfu.Protocol;

/// <summary>Write-once append of data by its own writer: entry epoch = request epoch = unit epoch (R4).</summary>
public sealed record WriteRequest(Epoch Epoch, ReadOnlyMemory<byte> Entry) : EntryRequest(Epoch, Entry)
{
    public override Opcode Opcode => Opcode.Write;
}
