using Corfu.FaultRuns.ZooKeeper.Clients;

namespace Corfu.FaultRuns.ZooKeeper.Judging;

/// <summary>Writes by path and by the moment of their reply: what a sync that begins later must show.</summary>
internal sealed class AcknowledgedWrites
{
    private readonly Dictionary<string, (long[] Ended, long[] Newest)> _byPath;

    public AcknowledgedWrites(IEnumerable<ZooLife> lives) => _byPath = lives.SelectMany(life => life.Entries)
        .Where(entry => entry.IsOk && entry.Act is ZooAct.Set or ZooAct.GuardedSet)
        .GroupBy(entry => entry.Path)
        .ToDictionary(group => group.Key, group => Sorted([.. group.OrderBy(entry => entry.Ended)]));

    /// <summary>The newest write of a path that was acknowledged before that moment; 0: none.</summary>
    public long Before(string path, long moment)
    {
        if (!_byPath.TryGetValue(path, out var writes)) return 0;
        var index = Array.BinarySearch(writes.Ended, moment);
        // The first that is not before the moment.
        if (index < 0) index = ~index;
        while (index > 0 && writes.Ended[index - 1] >= moment) index--;
        return index == 0 ? 0 : writes.Newest[index - 1];
    }

    private static (long[] Ended, long[] Newest) Sorted(ZooEntry[] entries)
    {
        var newest = new long[entries.Length];
        for (var i = 0; i < entries.Length; i++)
            newest[i] = Math.Max(i == 0 ? 0 : newest[i - 1], entries[i].Stat!.Mzxid);
        return ([.. entries.Select(entry => entry.Ended)], newest);
    }
}
