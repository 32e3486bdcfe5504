using Corfu.FaultRuns.ZooKeeper.Clients;
using Corfu.FaultRuns.ZooKeeper.Workers;

namespace Corfu.FaultRuns.ZooKeeper.Judging;

/// <summary>
/// Packets of a session in their order. Zxids and what is shown of a node never go back, also at another front end; a
/// read behind a sync shows all that was acknowledged before; a watch fires once, before any reply that shows the
/// change.
/// </summary>
internal sealed class SessionJudge(ZooLife life, AcknowledgedWrites writes, ZooVerdict verdict)
{
    private readonly WatchBook _watches = new();
    private readonly Dictionary<string, Shown> _shown = [];
    private long _zxid;
    private long _synced = -1;

    public void Judge()
    {
        foreach (var entry in life.Entries)
        {
            if (entry.Act == ZooAct.Expired || entry.Error is ZooEntry.Unknown or ZooEntry.NotSent) continue;
            if (entry.Zxid < _zxid) verdict.Stale.Add(Say($"zxid {entry.Zxid:x} behind {_zxid:x}", entry));
            _zxid = Math.Max(_zxid, entry.Zxid);
            if (entry.Act == ZooAct.Event)
            {
                if (!_watches.Fire(entry)) verdict.Twice.Add(Say("an event without a watch", entry));
                continue;
            }

            if (entry is { Act: ZooAct.Sync, IsOk: true }) _synced = Math.Max(_synced, entry.Began);
            Compare(entry);
            LookAtWatches(entry);
            _watches.Register(entry);
        }
    }

    private void Compare(ZooEntry entry)
    {
        var path = entry.Act == ZooAct.Create ? entry.Text : entry.Path;
        var shown = _shown.GetValueOrDefault(path, new Shown(0, 0, -1));
        if (IsMissing(entry))
        {
            _shown[path] = shown with { Absent = entry.Zxid };
            return;
        }

        if (entry is not { IsOk: true, Stat: { } stat }) return;
        var isOlder = stat.Mzxid < shown.Mzxid || stat.Pzxid < shown.Pzxid
            || (stat.Czxid <= shown.Absent && entry.Act != ZooAct.Create);
        if (isOlder) verdict.Stale.Add(Say($"mzxid {stat.Mzxid:x} and pzxid {stat.Pzxid:x} behind {shown}", entry));
        if (entry.Act == ZooAct.Get && _synced >= 0 && stat.Mzxid < writes.Before(path, _synced))
            verdict.Stale.Add(Say("a read behind a sync misses an earlier write", entry));
        _shown[path] = new Shown(stat.Mzxid, stat.Pzxid, shown.Absent);
    }

    private void LookAtWatches(ZooEntry entry)
    {
        var isMissing = IsMissing(entry);
        if (!entry.IsOk && !isMissing) return;
        switch (entry.Act)
        {
            case ZooAct.Get or ZooAct.Exists or ZooAct.Set or ZooAct.GuardedSet:
                LookAt(_watches.Data, entry.Path, isMissing ? WatchBook.Absent : entry.Stat!.Mzxid, entry);
                break;
            case ZooAct.Children:
                LookAt(_watches.Children, entry.Path, isMissing ? WatchBook.Absent : entry.Stat!.Pzxid, entry);
                break;
            // The reply has the number of the change itself.
            case ZooAct.Create or ZooAct.Delete when entry.IsOk:
                var path = entry.Act == ZooAct.Create ? entry.Text : entry.Path;
                LookAt(_watches.Data, path, entry.Zxid, entry);
                LookAt(_watches.Children, ZooPaths.ParentOf(path), entry.Zxid, entry);
                break;
        }
    }

    private void LookAt(Dictionary<string, long> watches, string path, long shown, ZooEntry entry)
    {
        if (!watches.TryGetValue(path, out var watched) || shown == watched) return;
        // A state that is older than the watched one is stale, and no change.
        if (shown != WatchBook.Absent && shown < watched) return;
        watches.Remove(path);
        verdict.Missed.Add(Say($"the watch of {watched:x} had no event, and {shown:x} is shown", entry));
    }

    private static bool IsMissing(ZooEntry entry) => entry is
    {
        Act: ZooAct.Get or ZooAct.Exists or ZooAct.Children,
        Error: ZooEntry.NoNode,
    } or { Act: ZooAct.Delete, IsOk: true };

    private string Say(string what, ZooEntry entry) =>
        $"{life.Name}: {what}: {entry.Act} {entry.Path}, zxid {entry.Zxid:x}";

    /// <param name="Absent">The newest zxid at which it was missing.</param>
    private readonly record struct Shown(long Mzxid, long Pzxid, long Absent);
}
