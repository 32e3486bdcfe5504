namespace Corfu.Checkers;

/// <summary>Every bounded read is within its number of versions and its age.</summary>
public static class BoundedCheck
{
    /// <param name="commits">By version: when it was committed; versions that never were are left out.</param>
    /// <param name="slack">The factor that clocks may differ by within the bound's time: 1.05 for 5 %.</param>
    public static List<Violation> Check(ObjectHistory history, IReadOnlyList<VersionFact> commits, double slack = 1)
    {
        List<Violation> found = [];
        var byKey = commits.GroupBy(fact => (fact.Chain, fact.Key))
            .ToDictionary(group => group.Key, group => group.OrderBy(fact => fact.Version).ToArray());
        foreach (var read in history.Calls.Where(
            call => call is { Mode: ObjectMode.Bounded, Fate: ObjectFate.Done }))
        {
            foreach (var seen in read.Seen)
            {
                var facts = byKey.GetValueOrDefault((read.Chain, seen.Key)) ?? [];
                Ahead(read, seen, facts, found);
                if (read.MaxAge > 0) Age(read, seen, facts, (long)(read.MaxAge * slack), found);
            }
        }

        return found;
    }

    private static void Ahead(ObjectCall read, ObjectSeen seen, VersionFact[] facts, List<Violation> found)
    {
        var ahead = facts.Count(fact => fact.Version <= seen.Version && fact.CommittedFrom > read.Until);
        if (ahead > read.MaxAhead)
            found.Add(new(CheckerNames.Bounded,
                $"{read} is {ahead} uncommitted versions ahead, and {read.MaxAhead} were allowed"));
    }

    private static void Age(ObjectCall read, ObjectSeen seen, VersionFact[] facts, long age, List<Violation> found)
    {
        // An absent object may have been deleted by a version that is not told.
        if (seen.Version == 0) return;
        var missed = Array.Find(facts, fact => fact.Version > seen.Version && fact.CommittedBy < read.From - age);
        if (missed is not null)
            found.Add(new(CheckerNames.Bounded,
                $"{read} shows {seen}, and {ObjectVersions.Show(missed.Version)} was committed "
                + $"{read.From - missed.CommittedBy} before; {read.MaxAge} was allowed"));
        var shown = Array.Find(facts, fact => fact.Version == seen.Version);
        if (shown is { WrittenBy: var written } && written < read.From - age && shown.CommittedFrom > read.Until)
            found.Add(new(CheckerNames.Bounded,
                $"{read} shows {seen}, which had been uncommitted for {read.From - written}; {read.MaxAge} was "
                + "allowed"));
    }
}

/// <summary>When a version of an object was committed: not before <paramref name="CommittedFrom"/>, and by
/// <paramref name="CommittedBy"/>.</summary>
/// <param name="WrittenBy">Every node that has it, has had it since then; <see cref="ObjectHistory.Never"/>: not
/// known.</param>
public sealed record VersionFact(string Chain, string Key, long Version, long CommittedFrom, long CommittedBy,
    long WrittenBy = ObjectHistory.Never);
