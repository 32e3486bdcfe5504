namespace Corfu.Protocol;

/// <summary>
/// What one acceptor holds for one epoch's register. A value is decided only when one ballot is accepted by a majority, or an
/// acceptor knows so (<see cref="IsDecided"/>); a lone accepted value proves nothing (R12).
/// </summary>
public sealed record SlotState(Epoch Slot, Ballot Promised, Ballot Accepted, Projection? Value, bool IsDecided)
{
    internal void Write(ref WireWriter w)
    {
        w.Epoch(Slot);
        Promised.Write(ref w);
        Accepted.Write(ref w);
        w.Bool(IsDecided);
        w.Bool(Value is not null);
        if (Value is not null) ProjectionCodec.Write(ref w, Value);
    }

    internal static SlotState Read(ref WireReader r)
    {
        var slot = r.Epoch();
        var promised = Ballot.Read(ref r);
        var accepted = Ballot.Read(ref r);
        var decided = r.Bool();
        var value = r.Bool() ? ProjectionCodec.Read(ref r) : null;
        if (value is not null && value.Epoch != slot) throw new MalformedDataException("A register holds another epoch's projection.");
        return new SlotState(slot, promised, accepted, value, decided);
    }
}
