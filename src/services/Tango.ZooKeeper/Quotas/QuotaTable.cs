namespace Tango.ZooKeeper;

/// <summary>Paths under quota, and what each uses. Persistent, as the tree is.</summary>
internal sealed class QuotaTable
{
    private const string Limits = "/zookeeper_limits";
    private const string Stats = "/zookeeper_stats";

    private readonly ImmutableSortedDictionary<string, QuotaUsage> _usages;

    private QuotaTable(ImmutableSortedDictionary<string, QuotaUsage> usages) => _usages = usages;

    public static QuotaTable Empty { get; } =
        new(ImmutableSortedDictionary.Create<string, QuotaUsage>(StringComparer.Ordinal));

    /// <summary>In ordinal order of the paths.</summary>
    public IEnumerable<KeyValuePair<string, QuotaUsage>> Usages => _usages;

    public int Count => _usages.Count;

    public QuotaUsage? Find(string path) => _usages.TryGetValue(path, out var usage) ? usage : null;

    public QuotaTable Set(string path, QuotaUsage usage) => new(_usages.SetItem(path, usage));

    public QuotaTable Remove(string path) => new(_usages.Remove(path));

    /// <summary>The path under quota that a node counts for: the longest that it is at or below. Null: none.</summary>
    public string? LongestOver(string path)
    {
        if (_usages.Count == 0) return null;
        for (var at = path; at != NodePath.Root; at = NodePath.ParentOf(at)!)
        {
            if (_usages.ContainsKey(at)) return at;
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
