namespace Corfu.FaultRuns.Services.Judging;

/// <summary>Compares what processes were told by the store with its changes.</summary>
internal static class StoreJudge
{
    public static void Judge(ServicesHistory history, ServicesAudit audit, ServicesVerdict verdict)
    {
        var made = new Dictionary<string, long>();
        foreach (var (revision, changes) in audit.Changes)
        {
            foreach (var id in changes.Values.Distinct())
            {
                if (!made.TryAdd(id, revision))
                    verdict.StoreTwice($"{id} makes revision {revision}, and {made[id]}");
            }
        }

        foreach (var put in history.Puts.Values)
        {
            if (put.IsVoid && made.TryGetValue(put.Id, out var at))
                verdict.StoreTwice($"{put.Id} was told as void, and makes revision {at}");
            if (put.Revision is not { } told) continue;
            var found = audit.Changes.GetValueOrDefault(told);
            if (found is null || found.Count != put.Keys.Length
                || put.Keys.Any(key => found.GetValueOrDefault(key) != put.Id))
                verdict.StoreLost($"{put.Id} of {string.Join(',', put.Keys)} is not revision {told}");
        }

        // All that ends before a call begins is of a lower revision than a write, and of no higher one than a read.
        var floors = new Floors(history.Puts.Values.Where(static put => put.Revision is not null)
            .Select(static put => (put.Ended, put.Revision!.Value))
            .Concat(history.Gets.Select(static get => (get.Ended, get.Revision))));
        foreach (var put in history.Puts.Values.Where(static put => put.Revision is not null))
        {
            if (floors.Before(put.Began) is var floor && put.Revision <= floor)
                verdict.StoreStale($"{put.Id} makes revision {put.Revision}, and began when {floor} was told");
        }

        var versions = audit.Changes.OrderBy(static change => change.Key)
            .SelectMany(static change => change.Value.Select(one => (one.Key, Revision: change.Key, Id: one.Value)))
            .ToLookup(static one => one.Key);
        var byKey = versions.ToDictionary(static key => key.Key, static key => key.ToArray());
        foreach (var get in history.Gets)
        {
            if (floors.Before(get.Began) is var floor && get.Revision < floor)
                verdict.StoreStale($"a read of revision {get.Revision} began when {floor} was told");
            foreach (var (key, id) in get.Found)
            {
                var expected = At(byKey.GetValueOrDefault(key, []), get.Revision);
                if (id != expected)
                    verdict.StoreStale($"{key} reads as '{id}' at revision {get.Revision}, and is '{expected}'");
            }
        }
    }

    private static string At((string Key, long Revision, string Id)[] versions, long revision)
    {
        var (low, high) = (0, versions.Length);
        while (low < high)
        {
            var middle = (low + high) / 2;
            if (versions[middle].Revision <= revision) low = middle + 1;
            else high = middle;
        }

        return low == 0 ? "" : versions[low - 1].Id;
    }
}
