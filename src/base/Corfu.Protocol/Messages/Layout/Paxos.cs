namespace Corfu.Protocol;

/// <summary>A Paxos ballot: ordered by round, then proposer. The default is below every real one.</summary>
public readonly record struct Ballot(long Round, Guid Proposer) : IComparable<Ballot>
{
    public int CompareTo(Ballot other)
    {
        var byRound = Round.CompareTo(other.Round);
        return byRound != 0 ? byRound : Proposer.CompareTo(other.Proposer);
    }

    public static bool operator <(Ballot a, Ballot b) => a.CompareTo(b) < 0;
    public static bool operator >(Ballot a, Ballot b) => a.CompareTo(b) > 0;
    public static bool operator <=(Ballot a, Ballot b) => a.CompareTo(b) <= 0;
    public static bool operator >=(Ballot a, Ballot b) => a.CompareTo(b) >= 0;

    public void Write(ref WireWriter w)
    {
        w.Int64(Round);
        w.Guid(Proposer);
    }

    public static Ballot Read(ref WireReader r) => new(r.Int64(), r.Guid());
}

/// <summary>Phase 1 for the slot.</summary>
public sealed record PrepareRequest(Epoch Slot, Ballot Ballot) : LayoutRequest(Opcode.Prepare, Slot)
{
    public override void WriteBody(ref WireWriter w) => Ballot.Write(ref w);

    internal static PrepareRequest Read(Epoch epoch, ref WireReader r) => new(epoch, Ballot.Read(ref r));
}

/// <summary>Phase 2 for the slot, whose number is the projection's epoch.</summary>
public sealed record AcceptRequest(Ballot Ballot, Projection Value) : LayoutRequest(Opcode.Accept, Value.Epoch)
{
    public override void WriteBody(ref WireWriter w)
    {
        Ballot.Write(ref w);
        ProjectionCodec.Write(ref w, Value);
    }

    internal static AcceptRequest Read(Epoch epoch, ref WireReader r) =>
        new(Ballot.Read(ref r), ProjectionCodec.Read(ref r, epoch));
}

/// <summary>Tells an acceptor a decided value: it stores it durably as such.</summary>
public sealed record DecidedRequest(Projection Value) : LayoutRequest(Opcode.Decided, Value.Epoch)
{
    public override void WriteBody(ref WireWriter w) => ProjectionCodec.Write(ref w, Value);

    internal static DecidedRequest Read(Epoch epoch, ref WireReader r) => new(ProjectionCodec.Read(ref r, epoch));
}
