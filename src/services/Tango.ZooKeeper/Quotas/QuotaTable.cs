namespace Tango.ZooKeeper;

/// <summary>Paths under quota, and what each uses. Persistent, as the tree is.</summary>
internal sealed class QuotaTable
{
    private const string Limits = "/zookeeper_limits";
    private const string Stats = "/zookeeper_stats";

    private readonly ImmutableSortedDictionary<string, PathQuota> _quotas;

    // The keys: a dictionary does not tell the key before one that is missing.
    private readonly ImmutableSortedSet<string> _paths;

    private QuotaTable(ImmutableSortedDictionary<string, PathQuota> quotas, ImmutableSortedSet<string> paths) =>
        (_quotas, _paths) = (quotas, paths);

    public static QuotaTable Empty { get; } = new(
        ImmutableSortedDictionary.Create<string, PathQuota>(StringComparer.Ordinal),
        ImmutableSortedSet.Create<string>(StringComparer.Ordinal));

    /// <summary>In ordinal order of the paths.</summary>
    public IEnumerable<KeyValuePair<string, PathQuota>> Quotas => _quotas;

    public int Count => _quotas.Count;

    public PathQuota? Find(string path) => _quotas.TryGetValue(path, out var quota) ? quota : null;

    public QuotaTable Set(string path, PathQuota quota) => new(_quotas.SetItem(path, quota), _paths.Add(path));

    public QuotaTable Remove(string path) => new(_quotas.Remove(path), _paths.Remove(path));

    /// <summary>The path under quota that a node counts for: the longest that it is at or below. Null: none.</summary>
    public string? LongestOver(string path)
    {
        while (!_paths.IsEmpty)
        {
            var index = _paths.IndexOf(path);
            if (index >= 0) return _paths[index];
            if (~index == 0) return null;
            // Between a path over this one and this one stand only paths that begin alike. So it is over the one before
            // this one too: within what the two have in common.
            var common = path.AsSpan().CommonPrefixLength(_paths[~index - 1]);
            var slash = path.LastIndexOf('/', common);
            if (slash <= 0) return null;
            path = path[..slash];
        }

        return null;
    }

    public static string LimitsOf(string path) => NodePath.Quota + path + Limits;

    public static string StatsOf(string path) => NodePath.Quota + path + Stats;

    /// <summary>The path whose limits the node holds; null: it holds none.</summary>
    public static string? LimitedBy(string node) => PathIn(node, Limits);

    /// <summary>The path whose use the node shows; null: it shows none.</summary>
    public static string? ShownBy(string node) => PathIn(node, Stats);

    // The root itself has no quota.
    private static string? PathIn(string node, string name) =>
        node.Length > NodePath.Quota.Length + name.Length && node.EndsWith(name, StringComparison.Ordinal)
        && node.StartsWith(NodePath.Quota + "/", StringComparison.Ordinal)
            ? node[NodePath.Quota.Length..^name.Length]
            : null;
}
