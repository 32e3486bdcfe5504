namespace Corfu.Store.State;

/// <summary>A key as one revision left it.</summary>
/// <param name="Version">0: it was deleted, and the rest is empty.</param>
internal sealed record StoreVersion(long Revision, long Created, long Version, long Lease, ValuePlace Place)
{
    public bool IsDeleted => Version == 0;

    public static StoreVersion Deleted(long revision) => new(revision, 0, 0, 0, default);

    public StoreEntry ToEntry(StoreKey key, ReadOnlyMemory<byte> value) =>
        new(key, value, Created, Revision, Version, Lease);
}

/// <summary>The versions of a key that are kept.</summary>
/// <param name="Older">By rising revisions, all below the newest one's.</param>
internal sealed record KeyRow(StoreVersion Newest, ImmutableList<StoreVersion> Older)
{
    public static KeyRow Of(StoreVersion version) => new(version, []);

    public IEnumerable<StoreVersion> Versions => Older.Append(Newest);

    /// <summary>As a revision has it; null: absent.</summary>
    public StoreVersion? At(long revision)
    {
        var version = Newest;
        if (version.Revision > revision)
        {
            var above = FirstAbove(revision);
            if (above == 0) return null;
            version = Older[above - 1];
        }

        return version.IsDeleted ? null : version;
    }

    /// <summary>The version that a revision made; null: it made none, or the version was dropped.</summary>
    public StoreVersion? Of(long revision)
    {
        if (Newest.Revision == revision) return Newest;
        var index = FirstAbove(revision) - 1;
        return index >= 0 && Older[index].Revision == revision ? Older[index] : null;
    }

    public KeyRow With(StoreVersion version) => version.Revision == Newest.Revision
        ? this with { Newest = version }
        : new KeyRow(version, Older.Add(Newest));

    /// <summary>The version of that revision has another place, if it still has the one that was moved.</summary>
    public KeyRow? Moved(long revision, ValuePlace from, ValuePlace to)
    {
        if (Planted.Is("move-unchecked")) return this with { Newest = Newest with { Place = to } };
        if (Newest.Revision == revision)
            return Moves(Newest) ? this with { Newest = Newest with { Place = to } } : null;
        var index = FirstAbove(revision) - 1;
        return index >= 0 && Older[index] is var older && older.Revision == revision && Moves(older)
            ? this with { Older = Older.SetItem(index, older with { Place = to }) }
            : null;

        // K12: else a value that was superseded, or moved by another call, returns.
        bool Moves(StoreVersion version) => !version.IsDeleted && version.Place == from;
    }

    // Number of the older versions up to a revision.
    private int FirstAbove(long revision)
    {
        var (low, high) = (0, Older.Count);
        while (low < high)
        {
            var middle = (low + high) / 2;
            if (Older[middle].Revision > revision) high = middle;
            else low = middle + 1;
        }

        return low;
    }
}
