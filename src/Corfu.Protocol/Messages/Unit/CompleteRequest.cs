namespace Corfu.Protocol;

/// <summary>Copies what an earlier replica of the chain was read to hold, data or junk, of this or an older epoch, to the replicas behind it (R9).</summary>
public sealed record CompleteRequest(Epoch Epoch, ReadOnlyMemory<byte> Entry) : EntryRequest(Epoch, Entry)
{
    public override Opcode Opcode => Opcode.Complete;
}
