using System.Collections.Immutable;

namespace Corfu.Protocol;

/// <summary>
/// For each stream this unit's newest data positions of the epoch and all before it, answered once the epoch has been sealed here, which may be long after it
/// was asked: what a <see cref="StreamTailsRequest"/> of the next epoch is answered with, before anybody knows what that will be. Sealed when a later one has been
/// installed already. A unit to which too many wait tells the oldest of them that it is Overloaded.
/// </summary>
public sealed record SealedTailsRequest(Epoch Epoch, ImmutableArray<StreamId> Streams) : Request<StreamTailsResponse>(Epoch)
{
    public override Opcode Opcode => Opcode.SealedTails;

    public override void WriteBody(ref WireWriter w) => StreamTail.WriteIds(ref w, Streams);

    internal static SealedTailsRequest Read(Epoch epoch, ref WireReader r) => new(epoch, StreamTail.ReadIds(ref r));

    public override Response ReadResponse(Status status, Epoch epoch, ref WireReader r) => StreamTailsResponse.Read(status, epoch, ref r);

    public override Response Fail(Status status, Epoch epoch) => new StreamTailsResponse(status, epoch, [], false);
}
