namespace Corfu.Protocol;

/// <summary>The layout's requests: a write-once register per epoch, decided by Paxos. The frame's epoch names the
/// register (slot).</summary>
public abstract record LayoutRequest(Opcode Opcode, Epoch Slot) : Request<LayoutResponse>(Opcode, Slot)
{
    // A refusal made outside the acceptor (a damaged frame, a wrong node) has no body at all.
    public override Response ReadResponse(Status status, Epoch epoch, ref WireReader r) => r.Remaining == 0
        ? Fail(status, epoch)
        : new LayoutResponse(status, epoch, r.Bool() ? SlotState.Read(ref r) : null,
            r.Bool() ? ProjectionCodec.Read(ref r) : null);

    public override Response Fail(Status status, Epoch epoch) => new LayoutResponse(status, epoch, null, null);
}

/// <summary>The answer to every layout request.</summary>
/// <param name="Slot">After the request; for <see cref="LatestRequest"/>: the highest slot with anything in it.</param>
/// <param name="Latest">The newest decided projection known.</param>
public sealed record LayoutResponse(Status Status, Epoch Epoch, SlotState? Slot, Projection? Latest)
    : Response(Status, Epoch)
{
    public override void WriteBody(ref WireWriter w)
    {
        w.Bool(Slot is not null);
        Slot?.Write(ref w);
        w.Bool(Latest is not null);
        if (Latest is not null) ProjectionCodec.Write(ref w, Latest);
    }
}

/// <summary>State of an epoch's register at an acceptor. A value is decided only when one ballot is accepted by a
/// majority, or an acceptor knows so (<see cref="IsDecided"/>). A lone accepted value proves nothing.</summary>
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
        var value = r.Bool() ? ProjectionCodec.Read(ref r, slot) : null;
        return new SlotState(slot, promised, accepted, value, decided);
    }
}

/// <summary>The newest decided projection that this acceptor knows, and the highest slot above it that it holds
/// anything for.</summary>
public sealed record LatestRequest(Epoch Epoch) : LayoutRequest(Opcode.Latest, Epoch);

/// <summary>Reads a slot, for history and for a lagging client.</summary>
public sealed record ReadSlotRequest(Epoch Slot) : LayoutRequest(Opcode.ReadSlot, Slot);

/// <summary>Answered, as a <see cref="LatestRequest"/> is, as soon as the acceptor knows a decided projection above
/// <paramref name="Known"/>. At its limit of waiters an acceptor answers the oldest early; of each connection it keeps
/// the newest.</summary>
public sealed record WatchRequest(Epoch Known) : LayoutRequest(Opcode.Watch, Known);
