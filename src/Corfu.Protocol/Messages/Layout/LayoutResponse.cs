namespace Corfu.Protocol;

/// <summary>
/// The answer to every layout request. <see cref="Slot"/> is the state of the slot after the request (for
/// <see cref="LatestRequest"/>: of the highest slot with anything in it). <see cref="Latest"/> is the newest decided projection known;
/// with <see cref="Status.Superseded"/> it is the way forward.
/// </summary>
public sealed record LayoutResponse(Status Status, Epoch Epoch, SlotState? Slot, Projection? Latest) : Response(Status, Epoch)
{
    public override void WriteBody(ref WireWriter w)
    {
        w.Bool(Slot is not null);
        Slot?.Write(ref w);
        w.Bool(Latest is not null);
        if (Latest is not null) ProjectionCodec.Write(ref w, Latest);
    }

    internal static LayoutResponse Read(Status status, Epoch epoch, ref WireReader r)
    {
        // A refusal made outside the acceptor (a damaged frame, a wrong node) has no body at all.
        if (r.Remaining == 0) return new LayoutResponse(status, epoch, null, null);
        var slot = r.Bool() ? SlotState.Read(ref r) : null;
        return new LayoutResponse(status, epoch, slot, r.Bool() ? ProjectionCodec.Read(ref r) : null);
    }
}
