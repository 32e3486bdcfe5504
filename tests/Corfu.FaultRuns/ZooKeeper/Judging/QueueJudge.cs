using Corfu.FaultRuns.ZooKeeper.Clients;
using Corfu.FaultRuns.ZooKeeper.Workers;

namespace Corfu.FaultRuns.ZooKeeper.Judging;

/// <summary>Queues. Each acknowledged item is taken once, or left; no name and no item comes twice; names have the
/// order of the creates.</summary>
internal static class QueueJudge
{
    public static void Judge(IReadOnlyList<ZooLife> lives, ZooAudit audit, ZooVerdict verdict)
    {
        var entries = lives.SelectMany(life => life.Entries)
            .Where(entry => IsItem(entry.Path)).ToList();
        var creates = entries.Where(entry => entry.Act == ZooAct.Create).ToList();
        var items = new Dictionary<string, ZooEntry>();
        foreach (var entry in creates.Where(entry => entry.IsOk))
        {
            if (!items.TryAdd(entry.Text, entry)) verdict.Twice.Add($"two creates got the name {entry.Text}");
        }

        JudgeNames(items, verdict);
        JudgeTexts(entries, creates, audit, verdict);
        var deletes = entries.Where(entry => entry.Act == ZooAct.Delete).ToLookup(entry => entry.Path);
        foreach (var group in deletes)
        {
            var taken = group.Count(entry => entry.IsOk);
            if (taken > 1) verdict.Twice.Add($"{group.Key} was taken {taken} times");
            if (taken > 0 && audit.Data.ContainsKey(group.Key))
                verdict.Lost.Add($"{group.Key} was taken, and is there");
        }

        foreach (var path in items.Keys.Where(path => !audit.Data.ContainsKey(path)
            && !deletes[path].Any(entry => entry.IsOk || entry.Error == ZooEntry.Unknown)))
            verdict.Lost.Add($"{path} was put, and neither taken nor left");
    }

    private static bool IsItem(string path) => path.StartsWith(ZooPaths.Queues + "/", StringComparison.Ordinal)
        && ZooPaths.ParentOf(path) != ZooPaths.Queues;

    private static void JudgeNames(Dictionary<string, ZooEntry> items, ZooVerdict verdict)
    {
        foreach (var queue in items.GroupBy(item => ZooPaths.ParentOf(item.Key)))
        {
            var last = -1;
            foreach (var (path, _) in queue.OrderBy(item => item.Value.Zxid))
            {
                var number = ZooPaths.SequenceOf(path);
                if (number < last) verdict.Twice.Add($"{path} was created behind number {last}");
                last = Math.Max(last, number);
            }
        }
    }

    // An item stands in one node only, also where its create had no reply; a refused one in none.
    private static void JudgeTexts(
        List<ZooEntry> entries, List<ZooEntry> creates, ZooAudit audit, ZooVerdict verdict)
    {
        var (places, texts) = (new Dictionary<string, string>(), new Dictionary<string, string>());
        var known = creates.ToDictionary(entry => entry.Call.Data);
        var seen = entries.Where(entry => entry is { Act: ZooAct.Get, IsOk: true })
            .Select(entry => (entry.Text, entry.Path))
            .Concat(creates.Where(entry => entry.IsOk).Select(entry => (Text: entry.Call.Data, Path: entry.Text)))
            .Concat(audit.Data.Where(one => IsItem(one.Key)).Select(one => (one.Value.Text, Path: one.Key)));
        foreach (var (text, path) in seen.Distinct())
        {
            if (!places.TryAdd(text, path)) verdict.Twice.Add($"{text} stands in {places[text]} and in {path}");
            if (!texts.TryAdd(path, text)) verdict.Lost.Add($"{path} had {texts[path]}, and has {text}");
            if (!known.TryGetValue(text, out var create)) verdict.Twice.Add($"{path} has {text}, which no client put");
            else if (create.Error is not (0 or ZooEntry.Unknown))
                verdict.Twice.Add($"{text} was refused, and is there");
        }
    }
}
