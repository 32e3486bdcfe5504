namespace Tango.ZooKeeper;

/// <summary>Paths under quota, and what each uses. Persistent, as the tree is.</summary>
internal sealed class QuotaTable
{
    private const string Limits = "/zookeeper_limits";
    private const string Stats = "/zookeeper_stats";

    private readonly ImmutableSortedDictionary<string, QuotaUsage> _usages;

    // The keys, in ordinal order: searched by parts of a path, which are no strings.
    private readonly ImmutableArray<string> _paths;

    private QuotaTable(ImmutableSortedDictionary<string, QuotaUsage> usages, ImmutableArray<string> paths) =>
        (_usages, _paths) = (usages, paths);

    public static QuotaTable Empty { get; } =
        new(ImmutableSortedDictionary.Create<string, QuotaUsage>(StringComparer.Ordinal), []);

    /// <summary>In ordinal order of the paths.</summary>
    public IEnumerable<KeyValuePair<string, QuotaUsage>> Usages => _usages;

    public int Count => _usages.Count;

    public QuotaUsage? Find(string path) => _usages.TryGetValue(path, out var usage) ? usage : null;

    public QuotaTable Set(string path, QuotaUsage usage) => With(_usages.SetItem(path, usage));

    public QuotaTable Remove(string path) => With(_usages.Remove(path));

    /// <summary>The path under quota that a node counts for: the longest that it is at or below. Null: none.</summary>
    public string? LongestOver(string path)
    {
        if (_paths.IsEmpty) return null;
        for (var length = path.Length; length > 0; length = path.LastIndexOf('/', length - 1))
        {
            var index = IndexOf(path.AsSpan(0, length));
            if (index >= 0) return _paths[index];
        }

        return null;
    }

    public static string LimitsOf(string path) => NodePath.Quota + path + Limits;

    public static string StatsOf(string path) => NodePath.Quota + path + Stats;

    /// <summary>The path whose limits the node holds; null: it holds none.</summary>
    public static string? LimitedBy(string node) => PathIn(node, Limits);

    /// <summary>The path whose use the node shows; null: it shows none.</summary>
    public static string? ShownBy(string node) => PathIn(node, Stats);

    private QuotaTable With(ImmutableSortedDictionary<string, QuotaUsage> usages) =>
        new(usages, usages.Count == _usages.Count ? _paths : [.. usages.Keys]);

    private int IndexOf(ReadOnlySpan<char> path)
    {
        var (low, high) = (0, _paths.Length - 1);
        while (low <= high)
        {
            var middle = (low + high) / 2;
            var order = _paths[middle].AsSpan().SequenceCompareTo(path);
            if (order == 0) return middle;
            if (order < 0) low = middle + 1;
            else high = middle - 1;
        }

        return -1;
    }

    // The root itself has no quota.
    private static string? PathIn(string node, string name) =>
        node.Length > NodePath.Quota.Length + name.Length && node.EndsWith(name, StringComparison.Ordinal)
        && node.StartsWith(NodePath.Quota + "/", StringComparison.Ordinal)
            ? node[NodePath.Quota.Length..^name.Length]
            : null;
}
