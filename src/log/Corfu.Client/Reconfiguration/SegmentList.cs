namespace Corfu.Client;

/// <summary>The segments of the next projection, from a membership and the new start (TOCS 2.5, 2.6).</summary>
internal static class SegmentList
{
    /// <summary>Closes the active segment where a new one opens, and merges neighbours with the same chains, which by
    /// R1 moves nothing. A segment that is wholly trimmed stays until it is migrated: its units may be all that know
    /// its streams (R22).</summary>
    public static ImmutableArray<Segment> Next(Membership membership, LogPosition start)
    {
        var segments = membership.Segments.ToList();
        start = new LogPosition(start.Offset);
        if (membership.NextChains is { } next)
        {
            var active = segments[^1];
            segments.RemoveAt(segments.Count - 1);
            if (start > active.From) segments.Add(active with { Until = start });
            segments.Add(new Segment(start, null, next));
        }

        // A projection of an older version may begin above zero.
        segments[0] = segments[0] with { From = LogPosition.Zero };
        var merged = ImmutableArray.CreateBuilder<Segment>(segments.Count);
        foreach (var segment in segments)
        {
            var reduced = segment with { Chains = ChainLists.Reduce(segment.Chains) };
            if (merged.Count > 0 && merged[^1].Chains.AsSpan().SequenceEqual(reduced.Chains.AsSpan()))
                merged[^1] = merged[^1] with { Until = reduced.Until };
            else merged.Add(reduced);
        }

        return merged.DrainToImmutable();
    }

    /// <summary>Only units of its chains are in a projection; a unit that has left never returns (R2).</summary>
    public static ImmutableArray<NodeAddress> UnitsOf(
        ImmutableArray<Segment> segments, ImmutableArray<NodeAddress> known)
    {
        var used = segments.SelectMany(s => s.Chains).SelectMany(c => c.Replicas).Select(r => r.Unit).ToHashSet();
        return [.. known.Where(u => used.Contains(u.Id))];
    }
}
