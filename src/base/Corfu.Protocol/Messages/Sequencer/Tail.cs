namespace Corfu.Protocol;

/// <summary>The log's tail and the tails of several streams, in one atomic answer (Tango 5).</summary>
public sealed record TailRequest(Epoch Epoch, ImmutableArray<StreamId> Streams)
    : Request<TailResponse>(Opcode.Tail, Epoch)
{
    public override void WriteBody(ref WireWriter w) => w.Streams(Streams);

    internal static TailRequest Read(Epoch epoch, ref WireReader r) => new(epoch, r.Streams());

    public override Response ReadResponse(Status status, Epoch epoch, ref WireReader r) =>
        TailResponse.Read(status, epoch, ref r);

    public override Response Fail(Status status, Epoch epoch) => new TailResponse(status, epoch, default, [], 0, []);
}

/// <param name="Tail">Exclusive: the lowest position not granted in this epoch.</param>
/// <param name="Tails">In request order.</param>
/// <param name="GraceMilliseconds">The longest grace in force: fillers wait at least that long.</param>
/// <param name="Unknown">With <see cref="Status.UnknownStream"/>: the streams to hand over first.</param>
public sealed record TailResponse(Status Status, Epoch Epoch, LogPosition Tail, ImmutableArray<StreamTail> Tails,
    ushort GraceMilliseconds, ImmutableArray<StreamId> Unknown)
    : Response(Status, Epoch)
{
    public override void WriteBody(ref WireWriter w)
    {
        if (Status == Status.UnknownStream) w.Streams(Unknown);
        if (!IsOk) return;
        w.Position(Tail);
        w.UInt16(GraceMilliseconds);
        w.Tails(Tails);
    }

    internal static TailResponse Read(Status status, Epoch epoch, ref WireReader r) => status switch
    {
        Status.Ok => new TailResponse(status, epoch, r.Position(epoch), GraceMilliseconds: r.UInt16(),
            Tails: r.Tails(), Unknown: []),
        Status.UnknownStream => new TailResponse(status, epoch, default, [], 0, r.Streams()),
        _ => new TailResponse(status, epoch, default, [], 0, []),
    };
}
