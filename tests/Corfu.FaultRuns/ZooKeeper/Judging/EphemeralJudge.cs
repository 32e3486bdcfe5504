using Corfu.FaultRuns.ZooKeeper.Clients;
using Corfu.FaultRuns.ZooKeeper.Workers;

namespace Corfu.FaultRuns.ZooKeeper.Judging;

/// <summary>Ephemeral nodes: all there while their session lives, and all gone with it, in one step.</summary>
internal static class EphemeralJudge
{
    public static void Judge(IReadOnlyList<ZooLife> lives, ZooAudit audit, ZooVerdict verdict)
    {
        verdict.Left.AddRange(audit.Left.Select(path => $"{path} stays"));
        var owners = lives.Select(Owner.Of).OfType<Owner>().OrderBy(owner => owner.Made).ToList();
        foreach (var life in lives)
        {
            var synced = -1L;
            foreach (var entry in life.Entries)
            {
                if (entry is { Act: ZooAct.Sync, IsOk: true }) synced = Math.Max(synced, entry.Began);
                if (entry is { Act: ZooAct.Children, IsOk: true, Path: ZooPaths.Ephemerals })
                    JudgeList(owners, entry, synced, verdict);
            }
        }

        foreach (var owner in owners)
        {
            foreach (var entry in owner.Life.Entries.Where(entry => entry.Act == ZooAct.Exists
                && entry.Error == ZooEntry.NoNode && owner.Names.Contains(ZooPaths.NameOf(entry.Path))))
            {
                if (entry.Zxid < owner.LastAlive) verdict.Lost.Add($"{entry.Path} had gone while its session lived");
            }
        }
    }

    private static void JudgeList(List<Owner> owners, ZooEntry entry, long synced, ZooVerdict verdict)
    {
        var names = entry.Names.ToHashSet();
        foreach (var owner in owners)
        {
            // In the order of their creates: the list is older than all others.
            if (owner.Made > entry.Zxid) break;
            var there = owner.Names.Count(names.Contains);
            if (there != 0 && there != owner.Names.Count)
                verdict.Left.Add($"{there} of {owner.Names.Count} nodes of {owner.Life.Name} at {entry.Zxid:x}");
            else if (there > 0 && (owner.Closed <= entry.Zxid || owner.ToldExpired < synced))
                verdict.Left.Add($"nodes of {owner.Life.Name} at {entry.Zxid:x}, behind its end");
            else if (there == 0 && owner.LastAlive > entry.Zxid)
                verdict.Lost.Add($"nodes of {owner.Life.Name} had gone at {entry.Zxid:x}, and it lived");
        }
    }

    /// <param name="Made">The zxid of the last create.</param>
    /// <param name="Closed">The zxid of the acknowledged end.</param>
    /// <param name="ToldExpired">When a server had said that the session has expired.</param>
    /// <param name="LastAlive">The newest zxid of a reply to the session.</param>
    private sealed record Owner(
        ZooLife Life, HashSet<string> Names, long Made, long Closed, long ToldExpired, long LastAlive)
    {
        public static Owner? Of(ZooLife life)
        {
            var creates = life.Entries.Where(entry => entry is { Act: ZooAct.Create, IsOk: true }
                && ZooPaths.ParentOf(entry.Text) == ZooPaths.Ephemerals).ToList();
            if (creates.Count == 0) return null;
            var alive = life.Entries.Where(entry => entry.IsReply && entry.Act != ZooAct.Close
                && entry.Error != ZooEntry.SessionExpired);
            return new Owner(life, [.. creates.Select(entry => ZooPaths.NameOf(entry.Text))],
                creates.Max(entry => entry.Zxid),
                life.Entries.Where(entry => entry is { Act: ZooAct.Close, IsOk: true }).Select(entry => entry.Zxid)
                    .DefaultIfEmpty(long.MaxValue).Min(),
                life.Entries.Where(entry => entry.Act == ZooAct.Expired).Select(entry => entry.Ended)
                    .DefaultIfEmpty(long.MaxValue).Min(), alive.Select(entry => entry.Zxid).Max());
        }
    }
}
