namespace Corfu.Protocol;

/// <summary>Releases one position; an unwritten one is marked trimmed. <see cref="Tombstone"/> brings the headers along
/// where the page was already trimmed elsewhere in the chain; empty otherwise.</summary>
public sealed record TrimRequest(Epoch Epoch, LogPosition Position, ReadOnlyMemory<byte> Tombstone)
    : AckRequest(Opcode.Trim, Epoch)
{
    public override void WriteBody(ref WireWriter w)
    {
        w.Position(Position);
        w.Bytes(Tombstone.Span);
    }

    internal static TrimRequest Read(Epoch epoch, ref WireReader r) => new(epoch, r.Position(), r.Bytes());
}

/// <summary>Releases everything below <see cref="Below"/> (exclusive). The mark only rises, and by this verb
/// alone.</summary>
public sealed record TrimPrefixRequest(Epoch Epoch, LogPosition Below) : AckRequest(Opcode.TrimPrefix, Epoch)
{
    public override void WriteBody(ref WireWriter w) => w.Position(Below);

    internal static TrimPrefixRequest Read(Epoch epoch, ref WireReader r) => new(epoch, r.Position());
}
