using System.Collections.Immutable;

namespace Corfu.Protocol;

/// <param name="Tail">Exclusive: the lowest position not granted in this epoch.</param>
/// <param name="Tails">In request order.</param>
/// <param name="GraceMilliseconds">The longest grace in force: fillers wait at least that long (R10).</param>
/// <param name="Unknown">With <see cref="Status.UnknownStream"/>: the streams to hand over first.</param>
public sealed record TailResponse(
    Status Status, Epoch Epoch, LogPosition Tail, ImmutableArray<StreamTail> Tails, ushort GraceMilliseconds, ImmutableArray<StreamId> Unknown)
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
        if (status == Status.UnknownStream) return new TailResponse(status, epoch, default, [], 0, StreamTail.ReadIds(ref r));
        if (status != Status.Ok) return new TailResponse(status, epoch, default, [], 0, []);
        var tail = r.Position(epoch);
        var grace = r.UInt16();
        return new TailResponse(status, epoch, tail, StreamTail.ReadAll(ref r), grace, []);
    }
}
