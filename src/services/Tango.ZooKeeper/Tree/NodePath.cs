using System.Globalization;

namespace Tango.ZooKeeper;

/// <summary>ZooKeeper's rules of paths: <c>/</c> is the root, <c>/a/b</c> a node.</summary>
public static class NodePath
{
    public const string Root = "/";

    /// <summary>Parent of the nodes that the service itself has.</summary>
    public const string Service = "/zookeeper";

    /// <summary>Parent of the nodes that hold quotas.</summary>
    public const string Quota = "/zookeeper/quota";

    /// <summary>Clients look for the servers' addresses here, and find no content.</summary>
    public const string Config = "/zookeeper/config";

    /// <summary>Whether a node may have the path.</summary>
    public static bool IsValid(string? path)
    {
        if (path is null || path.Length == 0 || path[0] != '/') return false;
        if (path.Length == 1) return true;
        if (path[^1] == '/') return false;
        var name = 1;
        for (var i = 1; i <= path.Length; i++)
        {
            if (i < path.Length && path[i] != '/')
            {
                if (!IsAllowed(path[i])) return false;
                continue;
            }

            if (path.AsSpan(name, i - name) is "" or "." or "..") return false;
            name = i + 1;
        }

        return true;
    }

    /// <summary>Nodes that are never deleted.</summary>
    public static bool IsSpecial(string path) => path is Root or Service or Quota or Config;

    /// <summary>The path before the last slash; of the root and of its children: the root. Null where there is no
    /// slash, or a NUL.</summary>
    public static string? ParentOf(string? path)
    {
        if (path is null || path.Contains('\0', StringComparison.Ordinal)) return null;
        var slash = path.LastIndexOf('/');
        return slash < 0 ? null : slash == 0 ? Root : path[..slash];
    }

    /// <summary>The last name; of the root: empty.</summary>
    public static string NameOf(string path) => path[(path.LastIndexOf('/') + 1)..];

    /// <summary>Digits that a sequential node has behind the name that was asked for.</summary>
    /// <param name="creates">How many nodes were created below the parent; a negative number after a wrap.</param>
    public static string SuffixOf(int creates) => creates >= 0
        ? creates.ToString("D10", CultureInfo.InvariantCulture)
        : "-" + (-(long)creates).ToString("D9", CultureInfo.InvariantCulture);

    // UTF-16 units: halves of surrogate pairs are among the refused.
    private static bool IsAllowed(char unit) => unit switch
    {
        <= '\u001f' => false,
        >= '\u007f' and <= '\u009f' => false,
        >= '\ud800' and <= '\uf8ff' => false,
        >= '\ufff0' => false,
        _ => true,
    };
}
