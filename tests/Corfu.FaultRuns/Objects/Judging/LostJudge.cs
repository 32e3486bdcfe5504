using System.Globalization;
using Corfu.FaultRuns.Objects.Clients;

namespace Corfu.FaultRuns.Objects.Judging;

/// <summary>Acknowledged writes that the objects do not show at the end, or show twice.</summary>
public static class LostJudge
{
    public static List<string> Judge(StoreHistory history)
    {
        List<string> found = [];
        var final = history.FinalObjects();
        var writes = history.AllCalls.Where(call => call.Writes)
            .SelectMany(call => call.Acts.Select(act => (Item: (call.Chain, act.Key), Write: new Write(call, act))))
            .ToLookup(one => one.Item, one => one.Write);
        foreach (var item in writes.Select(group => group.Key).Order())
        {
            if (!final.TryGetValue(item, out var seen))
            {
                if (writes[item].Any(write => write.IsDone))
                    found.Add($"{item.Chain}/{item.Key} could not be read at the end");
                continue;
            }

            var own = writes[item].ToList();
            Newest(item, seen, own, found);
            if (StoreKeys.IsAppended(item.Key)) Items(item, seen, own, found);
            if (StoreKeys.IsSummed(item.Key)) Sum(item, seen, own, found);
        }

        return found;
    }

    /// <summary>The final version is none below an acknowledged one, and has the content of its write.</summary>
    private static void Newest((string Chain, string Key) item, ObjectSeen seen, List<Write> writes,
        List<string> found)
    {
        var newest = writes.Where(write => write.IsDone).MaxBy(write => write.Call.Version);
        if (newest is null) return;
        // An absent object need not tell the version that deleted it: an acknowledged deletion, or one of unknown
        // outcome.
        var mayBeDeleted = newest.Act.Kind == ObjectActKind.Delete
            || writes.Exists(write => write.IsUnknown && write.Act.Kind == ObjectActKind.Delete);
        if (seen.Value is null && seen.Version == 0 ? !mayBeDeleted : seen.Version < newest.Call.Version)
            found.Add($"{item.Chain}/{item.Key} is {seen} at the end, and lacks {newest.Call}");
        else if (seen.Version == newest.Call.Version && Content(newest.Act) is var (value, isTold) && isTold
            && value != seen.Value)
            found.Add($"{item.Chain}/{item.Key} is {seen} at the end, and was written by {newest.Call}");
    }

    // A list has each acknowledged item once, and no item of a refused append.
    private static void Items((string Chain, string Key) item, ObjectSeen seen, List<Write> writes, List<string> found)
    {
        var counts = StoreKeys.Items(seen.Value ?? "").CountBy(text => text).ToDictionary();
        foreach (var write in writes.Where(write => write.Act.Kind == ObjectActKind.Append))
        {
            var count = counts.GetValueOrDefault(StoreKeys.Items(write.Act.Value).First());
            if (write.IsDone && count == 0)
                found.Add($"{item.Chain}/{item.Key} lacks {write.Act.Value} of {write.Call}");
            if (count > 1)
                found.Add($"{item.Chain}/{item.Key} has {write.Act.Value} {count} times, of {write.Call}");
        }
    }

    // A sum has each acknowledged delta; of unknown outcome some, all or none.
    private static void Sum((string Chain, string Key) item, ObjectSeen seen, List<Write> writes, List<string> found)
    {
        if (!long.TryParse(seen.Value, NumberStyles.None, CultureInfo.InvariantCulture, out var sum)) return;
        var start = item.Key == StoreKeys.Account ? StoreKeys.Deposit : 0;
        var adds = writes.Where(write => write.Act.Kind == ObjectActKind.Add).ToList();
        var known = start + adds.Where(write => write.IsDone).Sum(write => write.Act.Delta);
        var unknown = adds.Where(write => write.IsUnknown).Select(write => write.Act.Delta).ToList();
        var (least, most) = (known + unknown.Where(d => d < 0).Sum(), known + unknown.Where(d => d > 0).Sum());
        if (sum < least || sum > most)
            found.Add($"{item.Chain}/{item.Key} is {sum} at the end; the acknowledged additions make {known}, those "
                + $"of unknown outcome leave {least} to {most}");
    }

    private static (string? Value, bool IsTold) Content(ObjectAct act) => act.Kind switch
    {
        ObjectActKind.Put => (act.Value, true),
        ObjectActKind.Delete => (null, true),
        ObjectActKind.Add when act.Sum is { } sum => (sum.ToString(CultureInfo.InvariantCulture), true),
        _ => (null, false),
    };

    private sealed record Write(ObjectCall Call, ObjectAct Act)
    {
        public bool IsDone => Call.Fate == ObjectFate.Done;

        public bool IsUnknown => Call.Fate == ObjectFate.Unknown;
    }
}
