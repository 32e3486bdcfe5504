using System.Collections.Immutable;

namespace Corfu.Protocol;

/// <summary>
/// Data positions of streams as another replica lists them, of which this unit may have no page: from now on it knows them as well. Told of a position that
/// has no entry after all, readers look further (R8). BadRequest if one is below neither the epoch's start nor the trim mark.
/// </summary>
public sealed record TakeStreamTailsRequest(Epoch Epoch, ImmutableArray<StreamTail> Tails) : AckRequest(Epoch)
{
    public override Opcode Opcode => Opcode.TakeStreamTails;

    public override void WriteBody(ref WireWriter w) => StreamTail.WriteAll(ref w, Tails);

    internal static TakeStreamTailsRequest Read(Epoch epoch, ref WireReader r) => new(epoch, StreamTail.ReadAll(ref r));
}
