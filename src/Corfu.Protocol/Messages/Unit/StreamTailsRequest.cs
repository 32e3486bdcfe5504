using System.Collections.Immutable;

namespace Corfu.Protocol;

/// <summary>
/// For each stream this unit's newest data positions below the start of the installed epoch: frozen, so that every client
/// merges the same lists (design 4, Sequencer). Junk is not indexed (R8).
/// </summary>
public sealed record StreamTailsRequest(Epoch Epoch, ImmutableArray<StreamId> Streams) : Request<StreamTailsResponse>(Epoch)
{
    public override Opcode Opcode => Opcode.StreamTails;

    public override void WriteBody(ref WireWriter w) => StreamTail.WriteIds(ref w, Streams);

    internal static StreamTailsRequest Read(Epoch epoch, ref WireReader r) => new(epoch, StreamTail.ReadIds(ref r));

    public override Response ReadResponse(Status status, Epoch epoch, ref WireReader r) => StreamTailsResponse.Read(status, epoch, ref r);

    public override Response Fail(Status status, Epoch epoch) => new StreamTailsResponse(status, epoch, [], false);
}
