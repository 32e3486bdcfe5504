using System.Collections.Immutable;
using Corfu.Protocol;

namespace Corfu.Agent;

/// <summary>Which segment moves next, and onto which chains. The same for everybody who looks at the same projection.</summary>
/// <param name="Segment">Closed, and whole.</param>
/// <param name="Chains">Those of a neighbour, with which it is one afterwards.</param>
internal sealed record MigrationPlan(Segment Segment, ImmutableArray<Chain> Chains)
{
    /// <summary>The smallest closed segment, onto its larger neighbour; null where none can be moved now.</summary>
    public static MigrationPlan? Next(Projection projection)
    {
        MigrationPlan? best = null;
        for (var i = 0; i < projection.Segments.Length - 1; i++)
        {
            var segment = projection.Segments[i];
            if (!IsWhole(segment) || (best is not null && Length(best.Segment) <= Length(segment))) continue;
            var neighbours = new List<Segment>();
            if (i > 0) neighbours.Add(projection.Segments[i - 1]);
            neighbours.Add(projection.Segments[i + 1]);
            foreach (var neighbour in neighbours.Where(n => IsWhole(n) && CanCombine(segment, n)).OrderByDescending(Length).Take(1))
                best = new MigrationPlan(segment, neighbour.Chains);
        }

        return best;
    }

    /// <summary>The chains of the positions 0, 1, 2... under both lists, until both repeat (R1).</summary>
    public static IEnumerable<(Chain Old, Chain New)> Pairs(ImmutableArray<Chain> old, ImmutableArray<Chain> @new)
    {
        var count = CommonLength(old.Length, @new.Length);
        for (var i = 0L; i < count; i++) yield return (old[(int)(i % old.Length)], @new[(int)(i % @new.Length)]);
    }

    // Everything so far, if it is open.
    private static long Length(Segment segment) => segment.Until is { } until ? until.Offset - segment.From.Offset : long.MaxValue;

    // What is being rebuilt, or migrated by another, is not touched.
    private static bool IsWhole(Segment segment) => segment.Chains.All(c => c.FullCount == c.Replicas.Length);

    private static bool CanCombine(Segment segment, Segment neighbour) =>
        CommonLength(segment.Chains.Length, neighbour.Chains.Length) <= Client.Membership.MaxChains;

    private static long CommonLength(int a, int b)
    {
        var (x, y) = (a, b);
        while (y != 0) (x, y) = (y, x % y);
        return (long)a / x * b;
    }
}
