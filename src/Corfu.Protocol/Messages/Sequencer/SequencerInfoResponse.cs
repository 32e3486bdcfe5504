namespace Corfu.Protocol;

/// <param name="Streams">How many stream tails are held.</param>
public sealed record SequencerInfoResponse(Status Status, Epoch Epoch, LogPosition Tail, long Streams) : Response(Status, Epoch)
{
    public override void WriteBody(ref WireWriter w)
    {
        if (!IsOk) return;
        w.Position(Tail);
        w.Int64(Streams);
    }
}
