namespace Corfu.FaultRuns.Volumes.Faults;

/// <summary>A fault with all that chance decides.</summary>
/// <param name="Node">The node's index.</param>
/// <param name="Other">The index of another node.</param>
/// <param name="Seed">The seed of the damage.</param>
public sealed record PlannedVolumeFault(VolumeFaultKind Kind, int Node, int Other, TimeSpan Hold, int Seed)
{
    // A short run has a dead writer, a dead node and damage: they come first.
    private static readonly VolumeFaultKind[] s_first =
        [VolumeFaultKind.KillWriter, VolumeFaultKind.KillNode, VolumeFaultKind.FlipBits];

    /// <summary>Faults without end: each kind once in every round, in another order each time. The same seed gives the
    /// same faults.</summary>
    public static IEnumerable<PlannedVolumeFault> Plan(
        int seed, int nodes, IReadOnlyCollection<VolumeFaultKind> kinds)
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
                // The lease of a node is 5 s: some faults are over before.
                var hold = random.Next(3) == 0 ? random.Next(500, 2500) : random.Next(5000, 9000);
                yield return new PlannedVolumeFault(
                    kind, node, other, TimeSpan.FromMilliseconds(hold), random.Next());
            }
        }
    }
}
