namespace Corfu.ZooKeeper.Watches;

/// <summary>Watches of one kind: by path, and by connection.</summary>
internal sealed class PathWatches<TOwner>
    where TOwner : class
{
    private static readonly HashSet<TOwner> s_none = [];

    // Beside its path's characters: a place in two sets, a share of them, and a string's head.
    private const int BytesOfWatch = 200;

    private readonly Dictionary<string, HashSet<TOwner>> _byPath = new(StringComparer.Ordinal);
    private readonly Dictionary<TOwner, HashSet<string>> _byOwner = [];

    public int Paths => _byPath.Count;

    public long Count => _byOwner.Values.Sum(static paths => (long)paths.Count);

    public IEnumerable<TOwner> Owners => _byOwner.Keys;

    /// <summary>Memory of all watches, as far as it can be told.</summary>
    public long Bytes { get; private set; }

    public long BytesOf(TOwner owner) => _byOwner.TryGetValue(owner, out var paths) ? paths.Sum(BytesAt) : 0;

    public HashSet<TOwner> At(string path) => _byPath.GetValueOrDefault(path, s_none);

    public bool Has(string path, TOwner owner) => At(path).Contains(owner);

    public void Add(string path, TOwner owner)
    {
        if (!Entry(_byPath, path).Add(owner)) return;
        Entry(_byOwner, owner).Add(path);
        Bytes += BytesAt(path);
    }

    public bool Remove(string path, TOwner owner)
    {
        if (!Remove(_byPath, path, owner)) return false;
        Remove(_byOwner, owner, path);
        Bytes -= BytesAt(path);
        return true;
    }

    /// <summary>Removes all watches of a path: those of one shot end when they fire.</summary>
    public HashSet<TOwner> Take(string path)
    {
        if (!_byPath.Remove(path, out var owners)) return s_none;
        foreach (var owner in owners) Remove(_byOwner, owner, path);
        Bytes -= owners.Count * BytesAt(path);
        return owners;
    }

    public void RemoveAll(TOwner owner)
    {
        if (!_byOwner.Remove(owner, out var paths)) return;
        foreach (var path in paths) Remove(_byPath, path, owner);
        Bytes -= paths.Sum(BytesAt);
    }

    private static long BytesAt(string path) => BytesOfWatch + sizeof(char) * path.Length;

    private static HashSet<TValue> Entry<TKey, TValue>(Dictionary<TKey, HashSet<TValue>> map, TKey key)
        where TKey : notnull
    {
        if (!map.TryGetValue(key, out var entry)) map.Add(key, entry = []);
        return entry;
    }

    private static bool Remove<TKey, TValue>(Dictionary<TKey, HashSet<TValue>> map, TKey key, TValue value)
        where TKey : notnull
    {
        if (!map.TryGetValue(key, out var entry) || !entry.Remove(value)) return false;
        if (entry.Count == 0) map.Remove(key);
        return true;
    }
}
