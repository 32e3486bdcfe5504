namespace Salus.Region.Recovery;

/// <summary>The place where a log begins that is read: all below is in a checkpoint.</summary>
/// <param name="Index">The log is in the checkpoint up to here.</param>
/// <param name="Chain">The chain up to there.</param>
internal readonly record struct LogBase(long Index, Hash128 Chain);

/// <summary>All that one store lists of a region's log.</summary>
internal sealed record StoreListing(StoreId Store, ImmutableArray<ListedRecord> Records);

/// <summary>A record of the merged log.</summary>
/// <param name="Certificate">Valid, where a store has a valid one.</param>
/// <param name="Length">Bytes of the content, as the first store says.</param>
/// <param name="Stores">The stores that list it.</param>
internal sealed record MergedRecord(
    RecordHead Head, Certificate Certificate, int Length, ImmutableArray<StoreId> Stores)
{
    public RecordName Name => new(Head.Generation, Head.Index);
}

/// <summary>The longest prefix of a region's log that the stores prove.</summary>
/// <param name="Base">The log's records above it are whole up to <paramref name="LastIndex"/>.</param>
/// <param name="Records">Adjacent and linked, ascending. The first may stand below the base, as far down as the stores
/// have the log without a gap.</param>
/// <param name="Seen">The highest index that is proven to have existed; above the last one: stores that are not heard
/// have, or had, what lies between.</param>
internal sealed record MergedLog(LogBase Base, ImmutableArray<MergedRecord> Records, long LastIndex, Hash128 Chain,
    long Seen)
{
    public bool IsShort => Seen > LastIndex;
}

/// <summary>Merges what stores list of one region's log. Pure.</summary>
/// <remarks>
/// Records are linked by their hashes, so one proven record vouches for all below it, wherever they were found: what
/// one store lost at 5 and another at 9 is whole together. A prefix counts up to the highest proven record that is
/// linked down to the base (S10). What is proven at an index, and by whom, is for <see cref="LogLine"/> to say (S9).
/// </remarks>
internal static class LogMerge
{
    public static MergedLog Of(
        RegionKey region, LogBase from, LogLine line, IReadOnlyList<StoreListing> listings)
    {
        var found = Collect(region, Planted.Is("first-log-wins") ? [.. listings.Take(1)] : listings);
        var reached = Reach(found, from, line);
        var top = TopOf(found, from, line, reached);
        var records = new List<MergedRecord>();
        for (var at = top; at is not null && at.Head.Index > from.Index; at = Below(found, at.Head))
            records.Add(at.ToRecord(line));
        var below = from.Index == 0 ? null : Find(found, from.Index, from.Chain);
        for (; below is not null; below = Below(found, below.Head)) records.Add(below.ToRecord(line));
        records.Reverse();
        var last = top?.Head.Index ?? from.Index;
        return new MergedLog(from, [.. records], last, top?.Head.Chain ?? from.Chain,
            Math.Max(Math.Max(last, line.AnchorIndex), HighestProven(found, last, line)));
    }

    private static SortedDictionary<long, List<FoundRecord>> Collect(
        RegionKey region, IReadOnlyList<StoreListing> listings)
    {
        var found = new SortedDictionary<long, List<FoundRecord>>();
        foreach (var listing in listings)
        {
            foreach (var record in listing.Records)
            {
                if (record.Head.Region != region) continue;
                if (!found.TryGetValue(record.Head.Index, out var there)) found[record.Head.Index] = there = [];
                // A head is its chain: each store shows it with a certificate of its own.
                var same = there.Find(other => other.Head.Chain == record.Head.Chain);
                if (same is null) there.Add(same = new FoundRecord(record.Head, record.Length));
                same.Copies.Add((listing.Store, record.Certificate));
            }
        }

        // Every reader takes the same record where two are proven, which more than two failures can make.
        foreach (var there in found.Values)
            there.Sort(static (a, b) => a.Head.Chain.Value.CompareTo(b.Head.Chain.Value));
        return found;
    }

    // The records that are linked to the base, whether they are proven or not.
    private static HashSet<Hash128> Reach(
        SortedDictionary<long, List<FoundRecord>> found, LogBase from, LogLine line)
    {
        var reached = new HashSet<Hash128> { from.Chain };
        var before = new List<Hash128> { from.Chain };
        for (var index = from.Index + 1; before.Count > 0 && found.TryGetValue(index, out var there); index++)
        {
            before = [.. there.Where(record => before.Contains(record.Head.Previous) && line.MayHave(record.Head))
                .Select(static record => record.Head.Chain)];
            reached.UnionWith(before);
        }

        return reached;
    }

    private static FoundRecord? TopOf(SortedDictionary<long, List<FoundRecord>> found, LogBase from, LogLine line,
        HashSet<Hash128> reached)
    {
        foreach (var (_, there) in found.Reverse())
        {
            foreach (var record in there)
            {
                if (record.Head.Index > from.Index && reached.Contains(record.Head.Chain) && record.IsProven(line))
                    return record;
            }
        }

        return null;
    }

    private static long HighestProven(
        SortedDictionary<long, List<FoundRecord>> found, long above, LogLine line)
    {
        foreach (var (index, there) in found.Reverse())
        {
            if (index <= above) break;
            if (there.Any(record => record.IsProven(line))) return index;
        }

        return 0;
    }

    private static FoundRecord? Below(SortedDictionary<long, List<FoundRecord>> found, in RecordHead head) =>
        Find(found, head.Index - 1, head.Previous);

    private static FoundRecord? Find(
        SortedDictionary<long, List<FoundRecord>> found, long index, Hash128 chain) =>
        found.TryGetValue(index, out var there) ? there.Find(record => record.Head.Chain == chain) : null;

    // A record as the stores have it: equal heads with a certificate each, which may be damaged.
    private sealed class FoundRecord(RecordHead head, int length)
    {
        public RecordHead Head { get; } = head;

        public List<(StoreId Store, Certificate Certificate)> Copies { get; } = [];

        public bool IsProven(LogLine line) => Copies.Exists(copy => line.Proves(Head, copy.Certificate));

        public MergedRecord ToRecord(LogLine line)
        {
            var best = Copies.FindIndex(copy => line.Proves(Head, copy.Certificate));
            return new MergedRecord(Head, Copies[Math.Max(0, best)].Certificate, length,
                [.. Copies.Select(static copy => copy.Store)]);
        }
    }
}
