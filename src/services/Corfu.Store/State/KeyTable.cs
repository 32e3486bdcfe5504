namespace Corfu.Store.State;

/// <summary>The keys in their order, and their versions. Immutable.</summary>
/// <remarks>Invariant: both have the same keys. Versions change without the order.</remarks>
internal sealed record KeyTable(ImmutableSortedSet<StoreKey> Keys, ImmutableDictionary<StoreKey, KeyRow> Rows)
{
    public static KeyTable Empty { get; } =
        new(ImmutableSortedSet<StoreKey>.Empty, ImmutableDictionary<StoreKey, KeyRow>.Empty);

    public KeyRow? Find(StoreKey key) => Rows.GetValueOrDefault(key);

    public StoreVersion? Find(StoreKey key, long revision) => Find(key)?.At(revision);

    public KeyTable Set(StoreKey key, KeyRow row) =>
        new(Rows.ContainsKey(key) ? Keys : Keys.Add(key), Rows.SetItem(key, row));

    public KeyTable Remove(StoreKey key) => new(Keys.Remove(key), Rows.Remove(key));

    /// <summary>Keys that are there at a revision, in order.</summary>
    public IEnumerable<(StoreKey Key, StoreVersion Version)> Range(StoreRange range, long revision = long.MaxValue)
    {
        var index = Keys.IndexOf(range.From);
        for (index = index < 0 ? ~index : index; index < Keys.Count; index++)
        {
            var key = Keys[index];
            if (!range.Contains(key)) yield break;
            if (Rows[key].At(revision) is { } version) yield return (key, version);
        }
    }
}
