using PathSet = Tango.ZooKeeper.HashTrie<string, string, Tango.ZooKeeper.PathKeys>;

namespace Tango.ZooKeeper;

/// <summary>Paths of a node's children: the strings that are the children's own. Canonical, as the trie is.</summary>
internal readonly struct ChildSet : IEquatable<ChildSet>
{
    /// <summary>Most nodes have few children or none: a trie of them would be larger.</summary>
    private const int MaxFew = 8;

    // Null, an array of at most MaxFew paths in ordinal order, or a trie of more.
    private readonly object? _paths;

    private ChildSet(object? paths) => _paths = paths;

    public int Count => _paths switch
    {
        null => 0,
        string[] few => few.Length,
        _ => ((PathSet)_paths).Count,
    };

    /// <param name="paths">Each once.</param>
    public static ChildSet From(IReadOnlyCollection<string> paths, ulong seed) => paths.Count switch
    {
        0 => default,
        <= MaxFew => new ChildSet(paths.Order(StringComparer.Ordinal).ToArray()),
        _ => new ChildSet(PathSet.From(paths, seed)),
    };

    /// <param name="path">Path of a child that is not in the set.</param>
    public ChildSet Add(string path, ulong seed) => _paths switch
    {
        null => new ChildSet(new[] { path }),
        string[] { Length: < MaxFew } few => new ChildSet(Inserted(few, path)),
        string[] few => new ChildSet(PathSet.From([.. few, path], seed)),
        _ => new ChildSet(((PathSet)_paths).Set(path)),
    };

    /// <param name="path">Path of a child that is in the set.</param>
    public ChildSet Remove(string path)
    {
        if (_paths is string[] few)
            return few.Length == 1 ? default : new ChildSet(few.Where(other => other != path).ToArray());
        var many = ((PathSet)_paths!).Remove(path);
        return new ChildSet(many.Count > MaxFew ? many : many.Items().Order(StringComparer.Ordinal).ToArray());
    }

    /// <summary>Equal sets in equal order.</summary>
    public IEnumerable<string> Paths() => _paths switch
    {
        null => [],
        string[] few => few,
        _ => ((PathSet)_paths).Items(),
    };

    public bool Equals(ChildSet other) => Count == other.Count && Paths().SequenceEqual(other.Paths());

    public override bool Equals(object? obj) => obj is ChildSet other && Equals(other);

    public override int GetHashCode() => Count;

    private static string[] Inserted(string[] few, string path)
    {
        var index = 0;
        while (index < few.Length && string.CompareOrdinal(few[index], path) < 0) index++;
        return [.. few.AsSpan(0, index), path, .. few.AsSpan(index)];
    }
}
