using System.Text;
using static System.Buffers.Binary.BinaryPrimitives;

namespace Craq.Coordination;

/// <summary>Which nodes a placement wishes for a chain. Pure.</summary>
/// <remarks>
/// Rendezvous hashing: every node has a number by (chain, node), and the highest ones are taken. A node that comes or
/// goes changes the chains that have or had it and no others, and the chains of a lost node spread over all others
/// (CRAQ 3.2).
/// </remarks>
internal static class PlacementRules
{
    /// <summary>Null: the placement can be kept.</summary>
    public static string? Fault(Placement placement)
    {
        if (placement.Groups.IsDefault) return "a placement has no groups";
        if (placement.Datacenters < 0 || placement.Size < 0 || placement.MinMembers < 0
            || placement.Groups.Any(group => group.Size < 0)) return "a placement's sizes are not negative";
        if (placement.Groups.Length > ChainConfig.MaxMembers || Whole(placement) > ChainConfig.MaxMembers)
            return $"a chain has at most {ChainConfig.MaxMembers} members";
        var names = placement.Groups.Select(group => group.Datacenter).Append(placement.Master ?? "dc");
        if (names.Any(name => !IsName(name)))
            return $"a datacenter's name has 1 to {ChainConfig.MaxName} bytes";
        if (placement.Groups.Select(group => group.Datacenter).Distinct(StringComparer.Ordinal).Count()
            != placement.Groups.Length) return "a datacenter stands in the placement twice";
        if (placement.Master is { } master && !placement.Groups.IsEmpty
            && placement.Groups.All(group => group.Datacenter != master))
            return $"the master datacenter {master} is none of the placement's";
        if (placement.CountedSize > 0 && placement.MinMembers > placement.CountedSize)
            return $"the chain never has {placement.MinMembers} members that count: ask for at most "
                + $"{placement.CountedSize}";
        return null;
    }

    /// <summary>A name of a chain, a keyspace or a datacenter.</summary>
    public static bool IsName(string name) =>
        name.Length > 0 && Encoding.UTF8.GetByteCount(name) <= ChainConfig.MaxName;

    /// <summary>The wished members, from the head to the tail.</summary>
    /// <param name="nodes">Nodes that may be taken; their states are not looked at.</param>
    public static ImmutableArray<ChainMember> Wish(Placement placement, ChainId chain, IEnumerable<DirectoryNode> nodes)
    {
        var sites = nodes.GroupBy(node => node.Datacenter, StringComparer.Ordinal)
            .ToDictionary(site => site.Key, site => site.ToArray(), StringComparer.Ordinal);
        var wished = ImmutableArray.CreateBuilder<ChainMember>();
        foreach (var (datacenter, size) in Groups(placement, chain, sites.Keys))
        {
            if (!sites.TryGetValue(datacenter, out var there)) continue;
            var first = there.OrderByDescending(node => Weight(chain, node.Id)).ThenBy(node => node.Id);
            wished.AddRange(first.Take(size == 0 ? ChainConfig.MaxMembers : size)
                .Select(node => new ChainMember(node.Id, datacenter)));
        }

        if (wished.Count > ChainConfig.MaxMembers) wished.Count = ChainConfig.MaxMembers;
        return wished.ToImmutable();
    }

    /// <summary>Rank of a node for a chain: the highest are taken. The same at every node and in every version.
    /// </summary>
    public static ulong Weight(ChainId chain, NodeId node) => Mix(Fold(Fold(0, chain.Value), node.Value));

    private static IEnumerable<PlacementGroup> Groups(Placement placement, ChainId chain, IEnumerable<string> sites)
    {
        if (!placement.Groups.IsEmpty) return placement.Groups;
        var order = sites.OrderByDescending(site => site == placement.Master)
            .ThenByDescending(site => Weight(chain, site)).ThenBy(site => site, StringComparer.Ordinal);
        return order.Take(placement.Datacenters == 0 ? ChainConfig.MaxMembers : placement.Datacenters)
            .Select(site => new PlacementGroup(site, placement.Size));
    }

    private static ulong Weight(ChainId chain, string datacenter)
    {
        var hash = Fold(0, chain.Value);
        foreach (var letter in datacenter) hash = Mix(hash ^ letter);
        return hash;
    }

    private static long Whole(Placement placement) => placement.Groups.IsEmpty
        ? (long)placement.Size * placement.Datacenters
        : placement.Groups.Sum(group => (long)group.Size);

    private static ulong Fold(ulong hash, Guid id)
    {
        Span<byte> bytes = stackalloc byte[16];
        id.TryWriteBytes(bytes);
        hash = Mix(hash ^ ReadUInt64LittleEndian(bytes));
        return Mix(hash ^ ReadUInt64LittleEndian(bytes[8..]));
    }

    // The finalizer of SplitMix64: every bit of the input changes half of the bits.
    private static ulong Mix(ulong x)
    {
        x += 0x9e3779b97f4a7c15;
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
        x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
        return x ^ (x >> 31);
    }
}
