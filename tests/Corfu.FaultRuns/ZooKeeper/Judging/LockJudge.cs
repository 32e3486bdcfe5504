using Corfu.FaultRuns.ZooKeeper.Clients;
using Corfu.FaultRuns.ZooKeeper.Workers;

namespace Corfu.FaultRuns.ZooKeeper.Judging;

/// <summary>Locks. In the order of zxids, tokens of guarded writes never fall: no holder writes behind its successor.
/// In time, no two clients have answers that show them as holders at once.</summary>
internal static class LockJudge
{
    public static void Judge(IReadOnlyList<ZooLife> lives, ZooVerdict verdict)
    {
        var writes = lives.SelectMany(life => life.Entries).Where(entry => entry.Act == ZooAct.GuardedSet).ToList();
        foreach (var group in writes.Where(entry => entry.IsOk).GroupBy(entry => entry.Path))
            JudgeOne(group.Key, [.. group.OrderBy(entry => entry.Zxid)], verdict);
        // The session lives, and only its client deletes the node.
        verdict.Lost.AddRange(writes.Where(entry => entry.Error == ZooEntry.NoNode)
            .Select(entry => $"the lock's node {entry.Call.Guard} had gone while its session lived"));
    }

    private static void JudgeOne(string path, List<ZooEntry> writes, ZooVerdict verdict)
    {
        var highest = 0L;
        foreach (var entry in writes)
        {
            var token = long.Parse(entry.Call.Data.Split(' ')[0]);
            if (token < highest)
                verdict.Twice.Add($"{path}: token {token:x} at {entry.Zxid:x}, behind token {highest:x}");
            highest = Math.Max(highest, token);
        }

        // Each reply shows a holder from the end of its first write to the begin of its last one.
        var holders = writes.GroupBy(entry => entry.Call.Guard)
            .Select(group => (Node: group.Key, From: group.Min(entry => entry.Ended),
                To: group.Max(entry => entry.Began)))
            .Where(one => one.To > one.From).OrderBy(one => one.From).ToList();
        for (var i = 1; i < holders.Count; i++)
        {
            if (holders[i].From < holders[i - 1].To)
                verdict.Twice.Add($"{path}: {holders[i - 1].Node} and {holders[i].Node} held it at once");
        }
    }
}
