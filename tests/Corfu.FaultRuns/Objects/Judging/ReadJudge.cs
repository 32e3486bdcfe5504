using Corfu.FaultRuns.Objects.Clients;

namespace Corfu.FaultRuns.Objects.Judging;

/// <summary>Strong reads, writes and refusals that no order of an object explains, and weaker reads that break their
/// promise.</summary>
public static class ReadJudge
{
    /// <summary>Every object is linearizable, parts of transactions and the final reads included.</summary>
    public static List<string> Strong(StoreHistory history)
    {
        var objects = new ObjectHistory();
        objects.Calls.AddRange(history.AllCalls);
        return Told(ObjectLinear.Check(objects));
    }

    /// <summary>Bounded reads beyond their bound, sessions that go back, and contents that no write had.</summary>
    public static List<string> Weak(StoreHistory history)
    {
        var objects = new ObjectHistory();
        objects.Calls.AddRange(history.AllCalls);
        List<string> found = Told(BoundedCheck.Check(objects, Facts(objects.Calls)));
        found.AddRange(Told(SessionCheck.Check(objects)));
        foreach (var read in objects.Calls.Where(
            call => call is { Mode: ObjectMode.Bounded, Fate: ObjectFate.Done, MaxAhead: 0 }))
        {
            if (read.Seen.FirstOrDefault(seen => seen.IsDirty) is { } dirty)
                found.Add($"{read} shows {dirty}, which was not known to be committed");
        }

        Contents(objects.Calls, found);
        return found;
    }

    /// <summary>When acknowledged versions were committed: within their call, and not before a linearizable read began
    /// that shows an older one.</summary>
    private static List<VersionFact> Facts(List<ObjectCall> calls)
    {
        var older = calls.Where(call => call is { Fate: ObjectFate.Done, Mode: ObjectMode.Strong or ObjectMode.Mutate })
            .SelectMany(call => call.Seen.Where(seen => seen.Version > 0)
                .Select(seen => (Item: (call.Chain, seen.Key), seen.Version, call.Start)))
            .GroupBy(one => one.Item).ToDictionary(group => group.Key, group => group.OrderBy(one => one.Version)
                .Select(one => (one.Version, one.Start)).ToArray());
        List<VersionFact> facts = [];
        foreach (var item in calls.Where(call => call is { Fate: ObjectFate.Done, Writes: true, Version: > 0 })
            .SelectMany(call => call.Acts.Select(act => (call.Chain, act.Key)).Distinct()
                .Select(item => (Item: item, Call: call))).GroupBy(one => one.Item))
        {
            var reads = older.GetValueOrDefault(item.Key) ?? [];
            var (next, latest) = (0, 0L);
            foreach (var (_, call) in item.OrderBy(one => one.Call.Version))
            {
                for (; next < reads.Length && reads[next].Version < call.Version; next++)
                    latest = Math.Max(latest, reads[next].Start);
                facts.Add(new VersionFact(item.Key.Chain, item.Key.Key, call.Version,
                    Math.Max(call.Start, latest), call.End));
            }
        }

        return facts;
    }

    // Whatever the mode: what a read shows as the version of a known put is that put's value, and no read shows the
    // value of a put that began later.
    private static void Contents(List<ObjectCall> calls, List<string> found)
    {
        Dictionary<(string Chain, string Key, string Value), ObjectCall> puts = [];
        foreach (var call in calls.Where(call => call.Fate is ObjectFate.Done or ObjectFate.Unknown))
        {
            foreach (var act in call.Acts.Where(act => act.Kind == ObjectActKind.Put))
                puts.TryAdd((call.Chain, act.Key, act.Value), call);
        }

        foreach (var read in calls.Where(call => call.Fate == ObjectFate.Done))
        {
            foreach (var seen in read.Seen.Where(
                seen => seen.Value is not null && StoreKeys.IsRegister(seen.Key)))
            {
                var put = puts.GetValueOrDefault((read.Chain, seen.Key, seen.Value!));
                if (put is null)
                    found.Add($"{read} shows {seen}, which no client wrote");
                else if (put.Start > read.End || (put.Fate == ObjectFate.Done && put.Version != seen.Version))
                    found.Add($"{read} shows {seen}, and that is {put}");
            }
        }
    }

    private static List<string> Told(IEnumerable<Violation> violations) => [.. violations.Select(one => $"{one}")];
}
