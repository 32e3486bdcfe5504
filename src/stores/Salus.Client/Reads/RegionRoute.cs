namespace Salus.Reads;

/// <summary>A member of a region, and where to find it.</summary>
/// <param name="Address">Null: the node is gone, or not known here yet.</param>
internal readonly record struct RouteMember(RegionMember Member, NodeAddress? Address)
{
    public Incarnation Incarnation => Member.Incarnation;
}

/// <summary>The newest generation of a region, as this process has played it.</summary>
/// <param name="Members">The primary first.</param>
internal sealed record RegionRoute(Epoch Generation, bool IsAdmitted, ImmutableArray<RouteMember> Members)
{
    public static RegionRoute Of(RegionGeneration generation, NodeBookView nodes) => new(generation.Number,
        generation.IsAdmitted, [.. generation.Members.Select(member => new RouteMember(member,
            nodes.Find(member.Store) is { } node && node.Incarnation == member.Incarnation
            && node.State != BookedState.Gone ? node.RegionAddress : null))]);
}
