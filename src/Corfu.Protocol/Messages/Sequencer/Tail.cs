using System.Collections.Immutable;

namespace Corfu.Protocol;

/// <summary>The log's tail and the tails of several streams, in one atomic answer (Tango 5).</summary>
public sealed record TailRequest(Epoch Epoch, ImmutableArray<StreamId> Streams) : Request<TailResponse>(Epoch)
{
    public override Opcode Opcode => Opcode.Tail;

    public override void WriteBody(ref WireWriter w) => StreamTail.WriteIds(ref w, Streams);

    internal static TailRequest Read(Epoch epoch, ref WireReader r) => new(epoch, StreamTail.ReadIds(ref r));

    public override Response ReadResponse(Status status, Epoch epoch, ref WireReader r) =>
        TailResponse.Read(status, epoch, ref r);

    public override Response Fail(Status status, Epoch epoch) => new TailResponse(status, epoch, default, [], 0, []);
}

/// <param name="Tail">Exclusive: the lowest position not granted in this epoch.</param>
/// <param name="Tails">In request order.</param>
/// <param name="GraceMilliseconds">The longest grace in force: fillers wait at least that long (R10).</param>
/// <param name="Unknown">With <see cref="Status.UnknownStream"/>: the streams to hand over first.</param>
public sealed record TailResponse(
    Status Status, Epoch Epoch, LogPosition Tail, ImmutableArray<StreamTail> Tails, ushort GraceMilliseconds,
    ImmutableArray<StreamId> Unknown)
    : Response(Status, Epoch)
{
    public override void WriteBody(ref WireWriter w)
    {
        if (Status == Status.UnknownStream) StreamTail.WriteIds(ref w, Unknown);
        if (!IsOk) return;
        w.Position(Tail);
        w.UInt16(GraceMilliseconds);
        StreamTail.WriteAll(ref w, Tails);
    }

    internal static TailResponse Read(Status status, Epoch epoch, ref WireReader r)
    {
        if (status == Status.UnknownStream)
            return new TailResponse(status, epoch, default, [], 0, StreamTail.ReadIds(ref r));
        if (status != Status.Ok) return new TailResponse(status, epoch, default, [], 0, []);
        var tail = r.Position(epoch);
        var grace = r.UInt16();
        return new TailResponse(status, epoch, tail, StreamTail.ReadAll(ref r), grace, []);
    }
}
