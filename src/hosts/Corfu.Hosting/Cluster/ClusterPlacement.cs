namespace Corfu.Hosting;

/// <summary>Places the replicas of a new cluster: as many chains as units, chain i on the units i, i+1, ... modulo the
/// units, so that every unit is head of one chain and the load is even.</summary>
public static class ClusterPlacement
{
    public const int MaxUnits = 1024;

    /// <summary>Per chain the indexes of its units, head first.</summary>
    public static ImmutableArray<ImmutableArray<int>> Chains(int units, int replicas)
    {
        ArgumentOutOfRangeException.ThrowIfNotEqual(Fault(units, replicas) is null, true, nameof(replicas));
        // A chain over all units is one set of units whatever its head: several would only spread the heads.
        return [.. Enumerable.Range(0, units)
            .Select(head => Enumerable.Range(head, replicas).Select(i => i % units).ToImmutableArray())];
    }

    public static ImmutableArray<Chain> Chains(ImmutableArray<NodeId> units, int replicas) =>
        [.. Chains(units.Length, replicas)
            .Select(chain => new Chain([.. chain.Select(unit => new Replica(units[unit]))]))];

    /// <summary>A single acceptor below three units, else three, whose majority survives the loss of one.</summary>
    public static int AcceptorCount(int units) => units < 3 ? 1 : 3;

    /// <summary>The fault of these numbers, or null.</summary>
    public static string? Fault(int units, int replicas)
    {
        if (units is < 1 or > MaxUnits) return $"The number of units must be between 1 and {MaxUnits}, not {units}.";
        return replicas < 1 || replicas > units
            ? $"The number of replicas must be between 1 and the number of units ({units}), not {replicas}."
            : null;
    }
}
