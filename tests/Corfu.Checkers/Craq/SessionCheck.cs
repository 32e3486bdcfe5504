namespace Corfu.Checkers;

/// <summary>No session goes back, its own writes included, over all objects of a chain; and it sees committed versions
/// only.</summary>
public static class SessionCheck
{
    public static List<Violation> Check(ObjectHistory history)
    {
        List<Violation> found = [];
        var writes = WritesByKey(history);
        foreach (var session in history.Calls.Where(call => call.Session is not null)
            .GroupBy(call => (call.Session, call.Chain)))
        {
            foreach (var read in session.Where(call => call is { Mode: ObjectMode.Session, Fate: ObjectFate.Done }))
            {
                // Calls of one session may overlap: those that had ended count.
                var token = session.Where(call => call.End < read.Start).Select(Known).DefaultIfEmpty().Max();
                var before = session.Where(call => call.End < read.Start).ToList();
                foreach (var seen in read.Seen) Check(read, seen, token, before, writes, found);
            }
        }

        return found;
    }

    // The newest version that the session has seen for certain, or written.
    private static long Known(ObjectCall call) => call.Fate switch
    {
        ObjectFate.Done => Math.Max(call.Mark, call.Writes ? call.Version : 0),
        ObjectFate.Mismatch => call.Mark,
        _ => 0,
    };

    private static void Check(ObjectCall read, ObjectSeen seen, long token, List<ObjectCall> before,
        Dictionary<(string Chain, string Key), List<long>> writes, List<Violation> found)
    {
        if (seen.IsDirty || (read.Mark > 0 && seen.Version > read.Mark))
            found.Add(new(CheckerNames.Session, $"{read} shows {seen}, which was not known to be committed"));
        if (read.Mark < token)
            found.Add(new(CheckerNames.Session,
                $"{read} has the mark {ObjectVersions.Show(read.Mark)}, and the session knew "
                + $"{ObjectVersions.Show(token)}"));
        var newest = before.Where(call => call.Mode == ObjectMode.Session && call.Fate == ObjectFate.Done)
            .SelectMany(call => call.Seen).Where(other => other.Key == seen.Key).Select(other => other.Version)
            .DefaultIfEmpty().Max();
        if (seen.Version > 0 && seen.Version < newest)
            found.Add(new(CheckerNames.Session,
                $"{read} shows {seen}, and the session had seen {ObjectVersions.Show(newest)}"));
        var versions = writes.GetValueOrDefault((read.Chain, seen.Key)) ?? [];
        var last = versions.Where(version => version <= token).DefaultIfEmpty().Max();
        if (seen.Version > 0 && seen.Version < last)
            found.Add(new(CheckerNames.Session,
                $"{read} shows {seen} below the version {ObjectVersions.Show(last)}, though the session knew "
                + $"{ObjectVersions.Show(token)}"));
    }

    private static Dictionary<(string Chain, string Key), List<long>> WritesByKey(ObjectHistory history)
    {
        Dictionary<(string Chain, string Key), List<long>> writes = [];
        foreach (var call in history.Calls.Where(call => call is { Fate: ObjectFate.Done, Version: > 0 }))
        {
            foreach (var act in call.Acts.Where(act => act.Kind != ObjectActKind.Clear))
            {
                if (!writes.TryGetValue((call.Chain, act.Key), out var list)) writes[(call.Chain, act.Key)] = list = [];
                list.Add(call.Version);
            }
        }

        return writes;
    }
}
