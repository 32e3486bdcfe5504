namespace Corfu.Protocol;

/// <summary>Releases everything below <see cref="Below"/> (exclusive). The mark only rises, and by this verb alone (R5).</summary>
public sealed record TrimPrefixRequest(Epoch Epoch, LogPosition Below) : AckRequest(Epoch)
{
    public override Opcode Opcode => Opcode.TrimPrefix;

    public override void WriteBody(ref WireWriter w) => w.Position(Below);

    internal static TrimPrefixRequest Read(Epoch epoch, ref WireReader r) => new(epoch, r.Position());
}
