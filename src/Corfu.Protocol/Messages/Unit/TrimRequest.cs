namespace Corfu.Protocol;

/// <summary>
/// Releases one position; an unwritten one is marked trimmed (R5). <see cref="Tombstone"/> brings the headers along where the
/// page was already trimmed elsewhere in the chain; empty otherwise.
/// </summary>
public sealed record TrimRequest(Epoch Epoch, LogPosition Position, ReadOnlyMemory<byte> Tombstone) : AckRequest(Epoch)
{
    public override Opcode Opcode => Opcode.Trim;

    public override void WriteBody(ref WireWriter w)
    {
        w.Position(Position);
        w.Bytes(Tombstone.Span);
    }

    internal static TrimRequest Read(Epoch epoch, ref WireReader r) => new(epoch, r.Position(), r.Bytes());
}
