namespace Corfu.FaultRuns.Objects.Faults;

/// <summary>A fault with all that chance decides.</summary>
/// <param name="Node">The node's index.</param>
/// <param name="Other">The index of another node.</param>
/// <param name="AwaitsWhole">The next fault waits until all chains are whole again; else nodes may still be
/// learning.</param>
public sealed record PlannedFault(StoreFault Kind, int Node, int Other, TimeSpan Hold, bool AwaitsWhole)
{
    // A short run has a kill, a stop and a cut: they come first.
    private static readonly StoreFault[] s_first = [StoreFault.KillNode, StoreFault.StopNode, StoreFault.CutNode];

    /// <summary>Faults without end: each kind once in every round, in another order each time. The same seed gives the
    /// same faults.</summary>
    public static IEnumerable<PlannedFault> Plan(int seed, int nodes, IReadOnlyCollection<StoreFault> kinds)
    {
        var random = new Random(seed);
        for (var isFirst = true; ; isFirst = false)
        {
            var order = kinds.OrderBy(_ => random.Next()).ToList();
            if (isFirst) order = [.. order.OrderBy(kind => s_first.Contains(kind) ? 0 : 1)];
            foreach (var kind in order)
            {
                var node = random.Next(nodes);
                var other = (node + 1 + random.Next(nodes - 1)) % nodes;
                yield return new PlannedFault(kind, node, other, Length(kind, random), random.Next(2) == 0);
            }
        }
    }

    // A node is taken out of its chains after two to five seconds, a node that others reach after ten; some faults are
    // over before.
    private static TimeSpan Length(StoreFault kind, Random random)
    {
        var isShort = random.Next(3) == 0;
        var milliseconds = random.Next(4000, 9000);
        return TimeSpan.FromMilliseconds(kind == StoreFault.KillAll ? milliseconds / 10
            : isShort ? milliseconds / 5
            : kind == StoreFault.CutPair ? milliseconds * 2 : milliseconds);
    }
}
