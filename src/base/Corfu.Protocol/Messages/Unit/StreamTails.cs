namespace Corfu.Protocol;

/// <summary>For each stream this unit's newest data positions below the start of the installed epoch: frozen, so that
/// every client merges the same lists (docs/protocol.md, Sequencer). Junk is not indexed.</summary>
/// <param name="Below">If above the start: the positions below this instead.</param>
public sealed record StreamTailsRequest(Epoch Epoch, ImmutableArray<StreamId> Streams, LogPosition Below = default)
    : Request<StreamTailsResponse>(Opcode.StreamTails, Epoch)
{
    public override void WriteBody(ref WireWriter w)
    {
        w.Streams(Streams);
        w.Position(Below);
    }

    internal static StreamTailsRequest Read(Epoch epoch, ref WireReader r) => new(epoch, r.Streams(), r.Position());

    public override Response ReadResponse(Status status, Epoch epoch, ref WireReader r) => status == Status.Ok
        ? new StreamTailsResponse(status, epoch, Complete: r.Bool(), Tails: r.Tails())
        : Fail(status, epoch);

    public override Response Fail(Status status, Epoch epoch) => new StreamTailsResponse(status, epoch, [], false);
}

/// <param name="Complete">False when damaged headers may hide positions of a stream.</param>
public sealed record StreamTailsResponse(Status Status, Epoch Epoch, ImmutableArray<StreamTail> Tails, bool Complete)
    : Response(Status, Epoch)
{
    public override void WriteBody(ref WireWriter w)
    {
        if (!IsOk) return;
        w.Bool(Complete);
        w.Tails(Tails);
    }
}
