using System.Collections.Immutable;

namespace Corfu.Protocol;

/// <summary>The log's tail and the tails of several streams, in one atomic answer (Tango 5).</summary>
public sealed record TailRequest(Epoch Epoch, ImmutableArray<StreamId> Streams) : Request<TailResponse>(Epoch)
{
    public override Opcode Opcode => Opcode.Tail;

    public override void WriteBody(ref WireWriter w) => StreamTail.WriteIds(ref w, Streams);

    internal static TailRequest Read(Epoch epoch, ref WireReader r) => new(epoch, StreamTail.ReadIds(ref r));

    public override Response ReadResponse(Status status, Epoch epoch, ref WireReader r) => TailResponse.Read(status, epoch, ref r);

    public override Response Fail(Status status, Epoch epoch) => new TailResponse(status, epoch, default, [], 0, []);
}
