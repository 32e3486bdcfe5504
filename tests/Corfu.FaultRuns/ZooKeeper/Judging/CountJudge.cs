using Corfu.FaultRuns.ZooKeeper.Clients;
using Corfu.FaultRuns.ZooKeeper.Workers;

namespace Corfu.FaultRuns.ZooKeeper.Judging;

/// <summary>Counters. Each write takes effect once, in its session's order; acknowledged ones stay.</summary>
internal static class CountJudge
{
    public static void Judge(IReadOnlyList<ZooLife> lives, ZooAudit audit, ZooVerdict verdict)
    {
        var entries = lives.SelectMany(life => life.Entries).ToList();
        foreach (var entry in entries.Where(entry => entry.IsOk && entry.Stat is not null
            && entry.Act is ZooAct.Get or ZooAct.Set && ZooPaths.ParentOf(entry.Path) == ZooPaths.Fifo))
            Compare(entry.Path, entry.Act == ZooAct.Set ? entry.Call.Data : entry.Text, entry.Stat!.Version, verdict);
        foreach (var (path, (text, version)) in audit.Data)
        {
            if (ZooPaths.ParentOf(path) == ZooPaths.Fifo) Compare(path, text, version, verdict);
        }

        foreach (var group in entries.Where(entry => entry.Act == ZooAct.Set
            && ZooPaths.ParentOf(entry.Path) is ZooPaths.Fifo or ZooPaths.Counters).GroupBy(entry => entry.Path))
        {
            var (text, version) = audit.Data.GetValueOrDefault(group.Key, ("", -1));
            var newest = group.Where(entry => entry.IsOk).Select(entry => entry.Stat!.Version).Append(0).Max();
            if (newest > version)
                verdict.Lost.Add($"{group.Key} is at version {version} in the end, and {newest} was acknowledged");
            if (ZooPaths.ParentOf(group.Key) == ZooPaths.Counters) Walk(group.Key, text, version, [.. group], verdict);
        }
    }

    // The number that is written is the version that the node gets: a gap leaves it behind, a repetition ahead.
    private static void Compare(string path, string text, int version, ZooVerdict verdict)
    {
        var number = int.Parse(text);
        if (number > version) verdict.Lost.Add($"{path} has {number} at version {version}: a write before it is gone");
        if (number < version) verdict.Twice.Add($"{path} has {number} at version {version}");
    }

    // Each text leads to the one before it.
    private static void Walk(string path, string text, int version, List<ZooEntry> sets, ZooVerdict verdict)
    {
        var byId = sets.ToDictionary(entry => IdOf(entry.Call.Data));
        var applied = new HashSet<string>();
        for (var id = IdOf(text); id != IdOf(ZooPaths.FirstCount); version--)
        {
            if (!byId.TryGetValue(id, out var entry))
            {
                verdict.Lost.Add($"{path} has {id} at version {version}, which no client wrote");
                return;
            }

            if (!applied.Add(id))
            {
                verdict.Twice.Add($"{path} has {id} again at version {version}");
                return;
            }

            if (entry.Call.Version != version - 1)
                verdict.Twice.Add($"{path} got {id} at version {version}, and it asked for {entry.Call.Version}");
            if (entry.Error is not (0 or ZooEntry.Unknown))
                verdict.Twice.Add($"{path} got {id}, which was refused with {entry.Error}");
            id = entry.Call.Data.Split(' ')[1];
        }

        if (version != 0) verdict.Lost.Add($"{path}: {version} writes before the first one are gone");
        verdict.Lost.AddRange(sets.Where(entry => entry.IsOk && !applied.Contains(IdOf(entry.Call.Data)))
            .Select(entry => $"{path}: {entry.Call.Data} was acknowledged at version {entry.Stat!.Version}"));
    }

    private static string IdOf(string text) => text.Split(' ')[0];
}
