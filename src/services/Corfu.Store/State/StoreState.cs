namespace Corfu.Store.State;

/// <summary>Parameters of a store, which its first record fixes for ever.</summary>
/// <param name="Span">A record may name values so many positions below it.</param>
internal sealed record StoreSettings(long Span, long? KeepRevisions, long? QuotaBytes);

/// <summary>A revision: where its record stands, and the keys that it changed, in the order of the changes.</summary>
internal sealed record RevisionRow(long Position, int Record, ImmutableArray<StoreKey> Keys);

/// <summary>The changes of a revision whose row is dropped, with what was before each.</summary>
internal sealed record DroppedRevision(
    ImmutableArray<(StoreKey Key, StoreVersion Version, StoreVersion? Previous)> Changes);

/// <summary>A lease.</summary>
/// <param name="Version">Another one with each renewal.</param>
/// <param name="RenewedAt">Milliseconds since 1970, by the clock of the process that renewed it: for people.</param>
/// <param name="Keys">Invariant: the keys whose newest version names the lease.</param>
internal sealed record LeaseRow(
    long Version, long Milliseconds, long RenewedAt, ImmutableSortedSet<StoreKey> Keys);

/// <summary>A store at one place of the log. Immutable: each record makes another one, in every process the
/// same.</summary>
internal sealed record StoreState
{
    public static StoreState New { get; } = new();

    /// <summary>Null: no record has made the store.</summary>
    public StoreSettings? Settings { get; init; }

    /// <summary>K9: a counter, which rises by one with each record that changes a key, and with no other.</summary>
    public long Revision { get; init; } = 1;

    /// <summary>The oldest revision that can be read if nothing is pinned.</summary>
    public long Floor { get; init; } = 1;

    /// <summary>The revisions from <see cref="First"/> to <see cref="Revision"/>, one row each.</summary>
    public ImmutableList<RevisionRow> History { get; init; } = [];

    public long First => Revision - History.Count + 1;

    /// <summary>The newest of the revisions below <see cref="First"/>, of this process alone: those that it has seen
    /// dropped. Watches that run tell them, as they have not come that far before.</summary>
    public ImmutableList<DroppedRevision> Dropped { get; init; } = [];

    /// <summary>The first revision that a watch which runs can tell.</summary>
    public long FirstTold => First - Dropped.Count;

    public KeyTable Table { get; init; } = KeyTable.Empty;

    public ImmutableSortedDictionary<long, LeaseRow> Leases { get; init; } =
        ImmutableSortedDictionary<long, LeaseRow>.Empty;

    /// <summary>The greatest number given to a lease by the store, or to a version. None is given twice.</summary>
    public long LastLease { get; init; }

    public ImmutableSortedDictionary<string, long> Pins { get; init; } =
        ImmutableSortedDictionary.Create<string, long>(StringComparer.Ordinal);

    /// <summary>Keys and values of all versions that are kept.</summary>
    public long Bytes { get; init; }

    /// <summary>The oldest revision that can be read: versions that none from here on shows are dropped. A pin keeps
    /// what it and later revisions show.</summary>
    public long Oldest => Pins.IsEmpty ? Floor : Math.Min(Floor, Pins.Values.Min());

    public bool IsPruned => History.IsEmpty || First >= Oldest;

    public bool CanRead(long revision) => revision >= Oldest;

    public RevisionRow Of(long revision) => History[(int)(revision - First)];

    /// <summary>The revision whose record stands there; null: there is none that is known.</summary>
    public long? FindRevision(LogPlace place)
    {
        var (low, high) = (0, History.Count);
        while (low < high)
        {
            var middle = (low + high) / 2;
            var row = History[middle];
            var order = (row.Position, row.Record).CompareTo((place.Position.Offset, place.Record));
            if (order == 0) return First + middle;
            if (order < 0) low = middle + 1;
            else high = middle;
        }

        return null;
    }

    /// <summary>Whether a revision of that place would be known.</summary>
    public bool Knows(LogPlace place) => First == 2
        || (History is [var first, ..] && (first.Position, first.Record).CompareTo(
            (place.Position.Offset, place.Record)) <= 0);

    public LogPlace? LowestPlace()
    {
        var lowest = long.MaxValue;
        foreach (var row in Table.Rows.Values)
        {
            foreach (var version in row.Versions)
            {
                if (!version.IsDeleted) lowest = Math.Min(lowest, version.Place.Position);
            }
        }

        return lowest == long.MaxValue ? null : new LogPlace(new LogPosition(lowest), 0, 0);
    }
}
