namespace Corfu.Store.Tests.Model;

/// <summary>A key as the model has it.</summary>
/// <param name="Written">Revision of the put that wrote the value, which a revert writes again.</param>
internal sealed record PlainEntry(
    string Value, long Written, long Created, long Revision, long Version, long Lease);

/// <summary>A store as a list of whole maps, one for each revision.</summary>
internal sealed class PlainStore
{
    // By revision; the first two have no key.
    private readonly List<SortedDictionary<string, PlainEntry>> _maps = [New(), New()];
    private readonly Dictionary<string, long> _pins = [];
    private readonly HashSet<long> _leases = [];

    public long Revision => _maps.Count - 1;

    public long Floor { get; private set; } = 1;

    public IEnumerable<long> Readable =>
        Enumerable.Range(1, (int)Revision).Select(static r => (long)r).Where(CanRead);

    public IReadOnlyCollection<long> Leases => _leases;

    public IReadOnlyDictionary<string, PlainEntry> Newest => _maps[^1];

    public long Oldest => _pins.Values.Append(Floor).Min();

    public bool CanRead(long revision) => revision >= Oldest;

    public void Compact(long revision) => Floor = Math.Max(Floor, revision);

    public void Pin(string name) => _pins[name] = Revision;

    public void Unpin(string name) => _pins.Remove(name);

    public void Grant(long lease) => _leases.Add(lease);

    public bool EndLease(long lease) =>
        _leases.Remove(lease) && Change(map => Remove(map, entry => entry.Lease == lease));

    public bool Revert(long revision) => Change(map =>
    {
        foreach (var key in map.Keys.Except(_maps[(int)revision].Keys).ToArray()) map.Remove(key);
        foreach (var (key, then) in _maps[(int)revision])
        {
            if (map.GetValueOrDefault(key)?.Written != then.Written)
            {
                Put(map, key, then.Value, 0);
                map[key] = map[key] with { Written = then.Written };
            }
        }
    });

    /// <returns>Whether a key has changed.</returns>
    public bool Change(Action<SortedDictionary<string, PlainEntry>> change)
    {
        var map = New();
        foreach (var (key, entry) in _maps[^1]) map.Add(key, entry);
        change(map);
        if (map.SequenceEqual(_maps[^1])) return false;
        _maps.Add(map);
        return true;
    }

    public void Put(SortedDictionary<string, PlainEntry> map, string key, string value, long lease)
    {
        var before = map.GetValueOrDefault(key);
        map[key] = new PlainEntry(
            value, Revision + 1, before?.Created ?? Revision + 1, Revision + 1, (before?.Version ?? 0) + 1, lease);
    }

    public static void Remove(SortedDictionary<string, PlainEntry> map, Func<PlainEntry, bool> isRemoved)
    {
        foreach (var key in map.Where(pair => isRemoved(pair.Value)).Select(static pair => pair.Key).ToArray())
            map.Remove(key);
    }

    public string Show(long revision) => Show(_maps[(int)revision]);

    public static string Show(IEnumerable<KeyValuePair<string, PlainEntry>> map) => string.Join(
        ' ', map.Select(static pair => $"{pair.Key}={pair.Value.Value}/{pair.Value.Created}/{pair.Value.Revision}/"
            + $"{pair.Value.Version}/{pair.Value.Lease}"));

    /// <summary>The changes of a revision, by key.</summary>
    public string ShowChanges(long revision)
    {
        var (before, after) = (_maps[(int)revision - 1], _maps[(int)revision]);
        var changed = before.Keys.Union(after.Keys).Order(StringComparer.Ordinal)
            .Where(key => before.GetValueOrDefault(key) != after.GetValueOrDefault(key));
        return $"{revision}:{string.Join(',', changed.Select(key =>
            after.TryGetValue(key, out var entry) ? $"{key}={entry.Value}" : $"{key}-"))}";
    }

    private static SortedDictionary<string, PlainEntry> New() => new(StringComparer.Ordinal);
}
