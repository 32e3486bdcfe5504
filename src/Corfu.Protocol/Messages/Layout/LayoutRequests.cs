namespace Corfu.Protocol;

/// <summary>
/// The layout's requests: a write-once register per epoch, decided by Paxos (R12). The register (slot) is named in the body; the
/// frame's epoch is the caller's and is not checked, since the layout is what defines epochs.
/// </summary>
public abstract record LayoutRequest(Epoch Slot) : Request<LayoutResponse>(Slot)
{
    public override void WriteBody(ref WireWriter w)
    {
    }

    public override Response ReadResponse(Status status, Epoch epoch, ref WireReader r) => LayoutResponse.Read(status, epoch, ref r);

    public override Response Fail(Status status, Epoch epoch) => new LayoutResponse(status, epoch, null, null);
}

/// <summary>Phase 1 for the slot.</summary>
public sealed record PrepareRequest(Epoch Slot, Ballot Ballot) : LayoutRequest(Slot)
{
    public override Opcode Opcode => Opcode.Prepare;

    public override void WriteBody(ref WireWriter w) => Ballot.Write(ref w);

    internal static PrepareRequest Read(Epoch epoch, ref WireReader r) => new(epoch, Ballot.Read(ref r));
}

/// <summary>Phase 2 for the slot, whose number is the projection's epoch.</summary>
public sealed record AcceptRequest(Ballot Ballot, Projection Value) : LayoutRequest(Value.Epoch)
{
    public override Opcode Opcode => Opcode.Accept;

    public override void WriteBody(ref WireWriter w)
    {
        Ballot.Write(ref w);
        ProjectionCodec.Write(ref w, Value);
    }

    internal static AcceptRequest Read(Epoch epoch, ref WireReader r)
    {
        var ballot = Ballot.Read(ref r);
        var value = ProjectionCodec.Read(ref r);
        return value.Epoch == epoch ? new AcceptRequest(ballot, value) : throw new MalformedDataException("A projection's epoch is not its frame's.");
    }
}

/// <summary>Tells an acceptor a decided value: it stores it durably as such.</summary>
public sealed record DecidedRequest(Projection Value) : LayoutRequest(Value.Epoch)
{
    public override Opcode Opcode => Opcode.Decided;

    public override void WriteBody(ref WireWriter w) => ProjectionCodec.Write(ref w, Value);

    internal static DecidedRequest Read(Epoch epoch, ref WireReader r)
    {
        var value = ProjectionCodec.Read(ref r);
        return value.Epoch == epoch ? new DecidedRequest(value) : throw new MalformedDataException("A projection's epoch is not its frame's.");
    }
}

/// <summary>The newest decided projection that this acceptor knows, and the highest slot above it that it holds anything for.</summary>
public sealed record LatestRequest(Epoch Epoch) : LayoutRequest(Epoch)
{
    public override Opcode Opcode => Opcode.Latest;
}

/// <summary>One slot, for history and for a lagging client.</summary>
public sealed record ReadSlotRequest(Epoch Slot) : LayoutRequest(Slot)
{
    public override Opcode Opcode => Opcode.ReadSlot;
}

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
