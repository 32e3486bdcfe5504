namespace Corfu.Protocol;

/// <summary>State of a sequencer for people and tools; answered at any epoch.</summary>
public sealed record SequencerInfoRequest(Epoch Epoch) : Request<SequencerInfoResponse>(Opcode.SequencerInfo, Epoch)
{
    public override Response ReadResponse(Status status, Epoch epoch, ref WireReader r) => status == Status.Ok
        ? new SequencerInfoResponse(status, epoch, r.Position(epoch), r.Int64())
        : Fail(status, epoch);

    public override Response Fail(Status status, Epoch epoch) => new SequencerInfoResponse(status, epoch, default, 0);
}

/// <param name="Streams">How many stream tails are held.</param>
public sealed record SequencerInfoResponse(Status Status, Epoch Epoch, LogPosition Tail, long Streams)
    : Response(Status, Epoch)
{
    public override void WriteBody(ref WireWriter w)
    {
        if (!IsOk) return;
        w.Position(Tail);
        w.Int64(Streams);
    }
}
