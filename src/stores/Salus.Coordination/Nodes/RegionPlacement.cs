using System.Buffers.Binary;

namespace Salus.Coordination;

/// <summary>Chooses the members of a region. Pure.</summary>
/// <remarks>Rendezvous hashing, weighted by free space: a store that comes or goes changes the regions that have or had
/// it and no others, and an emptier store gets more of them.</remarks>
public static class RegionPlacement
{
    /// <summary>The wanted members, the primary first. Fewer than asked for where the nodes do not suffice.</summary>
    /// <param name="stay">Members that go on, in their order; they are taken whatever their rank.</param>
    /// <param name="isLast">Nodes that are taken when no other is left.</param>
    public static ImmutableArray<BookedNode> Choose(RegionKey region, int copies, IEnumerable<BookedNode> nodes,
        ImmutableArray<Incarnation> stay, Predicate<BookedNode> isLast)
    {
        ArgumentNullException.ThrowIfNull(isLast);
        BookedNode[] live = [.. nodes.Where(static node => node.State == BookedState.Live)];
        var chosen = ImmutableArray.CreateBuilder<BookedNode>();
        foreach (var member in stay)
        {
            if (chosen.Count < copies && live.FirstOrDefault(node => node.Incarnation == member) is { } node)
                chosen.Add(node);
        }

        var others = live.Where(node => !chosen.Contains(node)).OrderByDescending(node => Rank(region, node))
            .ThenBy(static node => node.Store.Value).ToLookup(node => isLast(node));
        foreach (var last in (ReadOnlySpan<bool>)[false, true])
        {
            // Another domain first; where nodes have no domains, or too few, machines alone differ.
            foreach (var node in others[last]) Add(node, mayShareDomain: false);
            foreach (var node in others[last]) Add(node, mayShareDomain: true);
        }

        return chosen.ToImmutable();

        void Add(BookedNode node, bool mayShareDomain)
        {
            if (chosen.Count < copies && !chosen.Contains(node) && (mayShareDomain || !SharesDomain(chosen, node)))
                chosen.Add(node);
        }
    }

    // -weight / ln(u) with u in (0, 1): the highest of all is a node's with a probability in proportion to its weight.
    private static double Rank(RegionKey region, BookedNode node)
    {
        Span<byte> key = stackalloc byte[16 + 4 + 16];
        region.Volume.Value.TryWriteBytes(key);
        BinaryPrimitives.WriteInt32LittleEndian(key[16..], region.Region);
        node.Store.Value.TryWriteBytes(key[20..]);
        var hash = Hash128.Of(key).Value;
        var u = ((ulong)(hash >> 75) + 0.5) / (1UL << 53);
        return -(node.Free + 1.0) / Math.Log(u);
    }

    private static bool SharesDomain(ImmutableArray<BookedNode>.Builder chosen, BookedNode node) =>
        node.Domain.Length > 0 && chosen.Any(other => other.Domain == node.Domain);
}
