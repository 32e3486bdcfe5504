namespace Salus.Protocol;

/// <summary>The members of a region in one generation, in the order of the chain, as Tango has them.</summary>
public sealed record MemberSet
{
    /// <exception cref="ArgumentException">None, too many, or one of them twice.</exception>
    public MemberSet(Epoch generation, ImmutableArray<Incarnation> members)
    {
        if (members.Length is 0 or > VolumeGeometry.MaxCopies)
            throw new ArgumentException($"A region has 1 to {VolumeGeometry.MaxCopies} members, not {members.Length}.");
        for (var i = 0; i < members.Length; i++)
        {
            if (members[i].IsNone || members.IndexOf(members[i]) != i)
                throw new ArgumentException("A member is none, or a member twice.");
        }

        Generation = generation;
        Members = members;
    }

    public Epoch Generation { get; }

    public ImmutableArray<Incarnation> Members { get; }

    /// <summary>-1: no member.</summary>
    public int IndexOf(Incarnation incarnation) => Members.IndexOf(incarnation);
}
