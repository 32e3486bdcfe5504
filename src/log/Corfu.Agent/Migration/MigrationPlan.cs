namespace Corfu.Agent;

/// <summary>The segment that moves next, and its new chains. The plan follows from the projection alone.</summary>
/// <param name="Segment">Closed; it moves as a whole.</param>
/// <param name="Chains">The chains of a neighbour, with which the segment is merged afterwards.</param>
internal sealed record MigrationPlan(Segment Segment, ImmutableArray<Chain> Chains)
{
    /// <summary>Null: nothing needs to move, or nothing can now. The newest wholly trimmed segment goes first: that
    /// moves no entries, only what is known of their streams. Else, with more segments than there should be, the
    /// smallest goes onto its larger neighbour.</summary>
    /// <param name="answers">Which units may take part; null: all.</param>
    public static MigrationPlan? Next(Projection projection, int maxSegments, Func<NodeId, bool>? answers = null)
    {
        var trimmed = projection.Segments.Count(s => s.Until <= projection.TrimMark);
        for (var i = Math.Min(trimmed, projection.Segments.Length - 1) - 1; i >= 0; i--)
        {
            var (segment, next) = (projection.Segments[i], projection.Segments[i + 1]);
            if (IsReady(segment, answers) && IsReady(next, answers) && CanCombine(segment, next))
                return new MigrationPlan(segment, next.Chains);
        }

        return projection.Segments.Length > maxSegments ? Smallest(projection, answers) : null;
    }

    private static MigrationPlan? Smallest(Projection projection, Func<NodeId, bool>? answers)
    {
        MigrationPlan? best = null;
        for (var i = 0; i < projection.Segments.Length - 1; i++)
        {
            var segment = projection.Segments[i];
            if (!IsReady(segment, answers) || (best is not null && Length(best.Segment) <= Length(segment))) continue;
            IEnumerable<Segment> neighbours = [.. projection.Segments.Take(i).TakeLast(1), projection.Segments[i + 1]];
            if (neighbours.Where(n => IsReady(n, answers) && CanCombine(segment, n)).MaxBy(Length) is { } neighbour)
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

    // The open segment is the longest.
    private static long Length(Segment segment) =>
        segment.Until is { } until ? until.Offset - segment.From.Offset : long.MaxValue;

    // A segment that is being rebuilt, or migrated by another process, stays. A unit that does not answer could not be
    // sealed, and appends would stop at each attempt for nothing.
    private static bool IsReady(Segment segment, Func<NodeId, bool>? answers) =>
        segment.Chains.All(
            c => c.FullCount == c.Replicas.Length && (answers is null || c.Replicas.All(r => answers(r.Unit))));

    private static bool CanCombine(Segment segment, Segment neighbour) =>
        CommonLength(segment.Chains.Length, neighbour.Chains.Length) <= Client.Membership.MaxChains;

    private static long CommonLength(int a, int b)
    {
        var (x, y) = (a, b);
        while (y != 0) (x, y) = (y, x % y);
        return (long)a / x * b;
    }
}
