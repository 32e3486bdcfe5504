namespace Corfu.ZooKeeper.Import;

/// <summary>Which nodes an import is about.</summary>
internal static class ImportScope
{
    private const string Stats = "/zookeeper_stats";

    /// <summary>Nodes that every service has of its own, with a content that is its own.</summary>
    public static bool IsOwn(string path) => path is NodePath.Service or NodePath.Quota or NodePath.Config;

    /// <summary>Nodes whose content the service keeps: they are made, and never compared.</summary>
    public static bool IsKept(string path) => IsQuota(path) && path.EndsWith(Stats, StringComparison.Ordinal);

    /// <summary>Limits are measured where they are made: each has a record of its own.</summary>
    public static bool IsQuota(string path) => path.StartsWith(NodePath.Quota + "/", StringComparison.Ordinal);

    /// <summary>Whether the tree's node must be written to be like the server's.</summary>
    public static bool IsNeeded(ImportedNode there, ZNode? here) => here is null
        || !IsKept(there.Path) && FindDifference(there, ImportedNode.Of(here)) is not null;

    /// <summary>The first field that differs.</summary>
    public static ImportDifference? FindDifference(ImportedNode there, ImportedNode here)
    {
        ImportDifference Of(string field, object one, object other) => new(there.Path, field, $"{one}", $"{other}");
        if ((there.Data is null) != (here.Data is null) || !there.Data.AsSpan().SequenceEqual(here.Data))
            return Of("data", Text(there.Data), Text(here.Data));
        if (!there.Acl.AsSpan().SequenceEqual(here.Acl.AsSpan()))
            return Of("acl", string.Join(", ", there.Acl), string.Join(", ", here.Acl));
        if (there.Version != here.Version) return Of("version", there.Version, here.Version);
        if (there.Aversion != here.Aversion) return Of("aversion", there.Aversion, here.Aversion);
        if (there.Creates != here.Creates) return Of("creates", there.Creates, here.Creates);
        if (there.Ctime != here.Ctime) return Of("ctime", there.Ctime, here.Ctime);
        return there.Mtime != here.Mtime ? Of("mtime", there.Mtime, here.Mtime) : null;
    }

    private static string Text(byte[]? data) => data is null ? "null" : $"{data.Length} bytes";
}
