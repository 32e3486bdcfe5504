namespace Corfu.Store.State;

/// <summary>Drops versions that no readable revision shows, a few with each record (K11).</summary>
// The state alone says what is dropped: else a process that has loaded a checkpoint and one that has played
// have different lowest places.
internal static class Pruning
{
    /// <summary>Versions that a record drops. One revision's are dropped together.</summary>
    public const int PerRecord = 64;

    /// <summary>Versions that a compaction drops at once.</summary>
    public const int PerCompaction = 4096;

    /// <summary>Dropped revisions that a process goes on knowing, for its watches.</summary>
    public const int Remembered = 1024;

    public static StoreState Prune(StoreState state, int most)
    {
        var told = state.Dropped;
        var table = state.Table;
        var (rows, dropped, bytes) = (0, 0, state.Bytes);
        var below = state.Oldest;
        var first = state.First;
        while (dropped < most && rows < state.History.Count && first + rows < below)
        {
            var revision = first + rows;
            told = told.Add(Remember(table, state.History[rows].Keys, revision));
            foreach (var key in state.History[rows].Keys)
            {
                if (table.Find(key) is { } row) table = Drop(table, key, row, revision, ref dropped, ref bytes);
            }

            rows++;
            // A revision without versions to drop takes time, too.
            dropped++;
        }

        if (rows == 0) return state;
        if (told.Count > Remembered) told = told.RemoveRange(0, told.Count - Remembered);
        return state with
        {
            Table = table,
            Bytes = bytes,
            History = state.History.RemoveRange(0, rows),
            Dropped = told,
        };
    }

    private static DroppedRevision Remember(KeyTable table, ImmutableArray<StoreKey> keys, long revision)
    {
        var changes = ImmutableArray.CreateBuilder<(StoreKey, StoreVersion, StoreVersion?)>();
        foreach (var key in keys)
        {
            if (table.Find(key) is { } row && row.Of(revision) is { } version)
                changes.Add((key, version, row.At(revision - 1)));
        }

        return new DroppedRevision(changes.ToImmutable());
    }

    // Below the floor: what the revision has superseded, and the deletion that it is.
    private static KeyTable Drop(
        KeyTable table, StoreKey key, KeyRow row, long revision, ref int dropped, ref long bytes)
    {
        var older = row.Older;
        while (older is [var oldest, ..]
            && (oldest.Revision < revision || (oldest.IsDeleted && oldest.Revision == revision)))
        {
            older = older.RemoveAt(0);
            bytes -= key.Length + oldest.Place.Length;
            dropped++;
        }

        if (older.IsEmpty && row.Newest.IsDeleted && row.Newest.Revision <= revision)
        {
            bytes -= key.Length;
            dropped++;
            return table.Remove(key);
        }

        return older.Count == row.Older.Count ? table : table.Set(key, row with { Older = older });
    }
}
