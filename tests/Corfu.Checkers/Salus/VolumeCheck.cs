namespace Corfu.Checkers;

/// <summary>
/// Judges what the users of a volume saw. A read returns what the calls placed before it leave, or what some placed
/// while it lasts leave (`fresh`), and nothing that was never written (`verified`). After each tenure the volume holds
/// a prefix of its writes (`prefix`) with all that were acknowledged (`ordered`). A snapshot is the volume between two
/// of its writes (`snapshot`).
/// </summary>
public static class VolumeCheck
{
    public static List<Violation> Check(VolumeHistory history)
    {
        var walk = new VolumeWalk(history);
        for (var mount = 0; mount < history.Mounts.Count; mount++) walk.Judge(mount);
        return walk.Found;
    }
}

internal sealed class VolumeWalk
{
    private readonly VolumeHistory _history;

    // Losses may reach behind the tenure before.
    private readonly bool _mayLose;

    // By block, all numbers that a write has put there.
    private readonly HashSet<(int Block, long Value)> _written = [];

    // The contents before the next tenure: those with all acknowledged writes, and those where some may be missing.
    private VolumeContents _strict = new();
    private VolumeContents _lossy = new();

    public VolumeWalk(VolumeHistory history)
    {
        _history = history;
        _mayLose = history.Mounts.Exists(static mount => mount.MayHaveLost);
        _strict.Add(new VolumeContent(history.Blocks));
        _lossy.Add(new VolumeContent(history.Blocks));
        foreach (var call in history.Mounts.SelectMany(mount => mount.Calls))
        {
            for (var i = 0; call.Act == VolumeAct.Write && i < call.Count; i++)
                _written.Add((call.First + i, call.Values[i]));
        }
    }

    public List<Violation> Found { get; } = [];

    public void Judge(int number)
    {
        var mount = _history.Mounts[number];
        var calls = Resolved(mount.Calls);
        var seen = JudgeReads(mount, calls);
        var begin = Fitting(mount.MayHaveLost ? _lossy : _strict, seen);
        if (begin.All.Count == 0) begin = Explain(mount, seen);
        _strict = Walk(number, begin, calls);
        var lossy = Lossy(begin, calls);
        if (_mayLose) lossy.Add(_lossy);
        _lossy = lossy;
        if (!_strict.IsTooMany && !_lossy.IsTooMany) return;
        Find(CheckerNames.Prefix, $"{mount.Name}: too many writes without an outcome to judge the volume");
    }

    // A write without an answer, or with its place alone, is there when a later one was committed, or a flush behind it
    // has ended: each commits behind its predecessor.
    private static List<VolumeCall> Resolved(List<VolumeCall> calls)
    {
        var last = calls.FindLastIndex(call =>
            (call.Changes || call.Act == VolumeAct.Flush) && call.Fate == VolumeFate.Done);
        return
        [
            .. calls.Select((call, i) =>
                i < last && call.Changes && call.Fate is (VolumeFate.Unknown or VolumeFate.Placed)
                    ? call with { Fate = VolumeFate.Done }
                    : call),
        ];
    }

    // Returns what reads saw of blocks as they were before the tenure.
    private Dictionary<int, long> JudgeReads(VolumeMount mount, List<VolumeCall> calls)
    {
        Dictionary<int, long> before = [];
        Dictionary<int, List<(int Place, VolumeCall Call)>> writes = [];
        for (var place = 0; place < calls.Count; place++)
        {
            var call = calls[place];
            for (var block = call.First; call.Changes && block < call.First + call.Count; block++)
            {
                if (!writes.TryGetValue(block, out var list)) writes[block] = list = [];
                list.Add((place, call));
            }
        }

        for (var place = 0; place < calls.Count; place++)
        {
            if (calls[place] is not { Act: VolumeAct.Read, Fate: VolumeFate.Done } read) continue;
            for (var i = 0; i < read.Count; i++)
            {
                var all = writes.GetValueOrDefault(read.First + i) ?? [];
                if (all.Exists(write => write.Place > place && write.Call.Start <= read.End
                    && write.Call.ValueOf(read.First + i) == read.Values[i])) continue;
                JudgeBlock(mount, read, read.First + i, read.Values[i],
                    [.. all.Where(write => write.Place < place).Select(write => write.Call)], before);
            }
        }

        return before;
    }

    private void JudgeBlock(VolumeMount mount, VolumeCall read, int block, long value, List<VolumeCall> writes,
        Dictionary<int, long> before)
    {
        if (value != 0 && !_written.Contains((block, value)))
        {
            Find(CheckerNames.Verified, $"{mount.Name}: {read} shows {value} in block {block}, which was never "
                + "written there");
            return;
        }

        for (var i = writes.Count - 1; i >= 0; i--)
        {
            if (writes[i].ValueOf(block) == value) return;
            if (writes[i].Fate is not (VolumeFate.Done or VolumeFate.Placed)) continue;
            Find(CheckerNames.Fresh, $"{mount.Name}: {read} shows {value} in block {block}, behind {writes[i]}");
            return;
        }

        if (before.TryAdd(block, value) || before[block] == value) return;
        Find(CheckerNames.Fresh, $"{mount.Name}: {read} shows {value} in block {block}, which held {before[block]}");
    }

    private static VolumeContents Fitting(VolumeContents contents, Dictionary<int, long> seen)
    {
        var fitting = new VolumeContents();
        foreach (var content in contents.All)
        {
            if (seen.All(block => content[block.Key] == block.Value)) fitting.Add(content);
        }

        return fitting;
    }

    // No content fits: the verdict, and the contents to go on with.
    private VolumeContents Explain(VolumeMount mount, Dictionary<int, long> seen)
    {
        var lossy = Fitting(_lossy, seen);
        var text = string.Join(", ", seen.Where(block => _strict.All.All(content => content[block.Key] != block.Value))
            .Select(block => $"{block.Key}: {block.Value}").DefaultIfEmpty("each alone possible").Take(8));
        if (lossy.All.Count > 0)
        {
            Find(CheckerNames.Ordered, $"{mount.Name} begins without writes that were acknowledged ({text})");
            return lossy;
        }

        Find(CheckerNames.Prefix, $"{mount.Name} begins with blocks that are no prefix of the writes ({text})");
        return _strict;
    }

    private VolumeContents Walk(int number, VolumeContents contents, List<VolumeCall> calls)
    {
        List<VolumeSnapshot> open = [.. _history.Snapshots.Where(snapshot => snapshot.Mount == number)];
        open.RemoveAll(HasConflict);
        for (var place = 0; ; place++)
        {
            open.RemoveAll(snapshot => snapshot.From <= place && place <= snapshot.To
                && Fitting(contents, Blocks(snapshot)).All.Count > 0);
            if (place == calls.Count) break;
            if (calls[place].Changes)
                contents = contents.Behind(calls[place], calls[place].Fate == VolumeFate.Done);
        }

        foreach (var snapshot in open)
        {
            Find(CheckerNames.Snapshot,
                $"snapshot {snapshot.Name} of {_history.Mounts[number].Name} is the volume at no moment between its "
                + $"calls {snapshot.From} and {snapshot.To}");
        }

        return contents.Settled();
    }

    private bool HasConflict(VolumeSnapshot snapshot)
    {
        if (snapshot.Seen.GroupBy(seen => seen.Block).FirstOrDefault(block => block.Distinct().Count() > 1)
            is not { } block) return false;
        Find(CheckerNames.Snapshot, $"block {block.Key} of snapshot {snapshot.Name} has changed: "
            + string.Join(", ", block.Select(seen => seen.Value).Distinct()));
        return true;
    }

    private static Dictionary<int, long> Blocks(VolumeSnapshot snapshot) => snapshot.Seen
        .DistinctBy(seen => seen.Block).ToDictionary(seen => seen.Block, seen => seen.Value);

    // Any prefix of the writes, whatever was acknowledged.
    private static VolumeContents Lossy(VolumeContents contents, List<VolumeCall> calls)
    {
        var all = contents.Settled();
        foreach (var call in calls.Where(call => call.Changes))
        {
            contents = contents.Behind(call, call.Fate == VolumeFate.Done);
            all.Add(contents.Settled());
        }

        return all;
    }

    private void Find(string checker, string what) => Found.Add(new Violation(checker, $"{_history.Name} {what}"));
}
