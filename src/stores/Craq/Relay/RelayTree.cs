namespace Craq.Relay;

/// <summary>The tree along which the members of a chain pass values on, from the head. Pure: all members of an epoch
/// have the same one.</summary>
internal static class RelayTree
{
    private const int Fan = 2;

    /// <summary>The places of the members that a member passes values on to. The first member of each datacenter, in
    /// the order of the chain, takes the values for it, so that they enter it once; those members are a binary tree,
    /// and so are the members of each datacenter below its first. Other datacenters come first, for they are
    /// far.</summary>
    public static ImmutableArray<int> ChildrenOf(ChainConfig config, int member)
    {
        var datacenters = config.Members.Select((own, place) => (own.Datacenter, Place: place))
            .GroupBy(own => own.Datacenter, own => own.Place).Select(places => places.ToArray()).ToArray();
        var datacenter = Array.FindIndex(datacenters, places => places.Contains(member));
        var places = datacenters[datacenter];
        var own = Array.IndexOf(places, member);
        var near = Below(own, places.Length).Select(index => places[index]);
        return own > 0
            ? [.. near]
            : [.. Below(datacenter, datacenters.Length).Select(index => datacenters[index][0]), .. near];
    }

    // The children of a place in a tree that fills its levels in order.
    private static IEnumerable<int> Below(int place, int count) =>
        Enumerable.Range((Fan * place) + 1, Fan).Where(child => child < count);
}
