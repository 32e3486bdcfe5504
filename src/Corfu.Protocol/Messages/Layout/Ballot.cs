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

    internal void Write(ref WireWriter w)
    {
        w.Int64(Round);
        w.Guid(Proposer);
    }

    internal static Ballot Read(ref WireReader r) => new(r.Int64(), r.Guid());
}
