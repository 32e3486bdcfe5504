namespace Corfu.Protocol;

/// <summary>Hands over stream tails below the epoch's start, merged from the first full replica of every chain. The
/// first hand-over of a stream wins; later ones agree with it and change nothing.</summary>
public sealed record LoadStreamsRequest(Epoch Epoch, ImmutableArray<StreamTail> Tails)
    : AckRequest(Opcode.LoadStreams, Epoch)
{
    public override void WriteBody(ref WireWriter w) => w.Tails(Tails);

    internal static LoadStreamsRequest Read(Epoch epoch, ref WireReader r) => new(epoch, r.Tails());
}
