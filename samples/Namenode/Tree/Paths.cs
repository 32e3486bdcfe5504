namespace NamenodeSample.Tree;

/// <summary>Paths: a slash, then names with slashes between them.</summary>
internal static class Paths
{
    /// <summary>As in HDFS. Walks of the tree recurse, and a stack has room for many times as many names.</summary>
    public const int MaxNames = 1_000;

    /// <summary>As in HDFS.</summary>
    public const int MaxCharacters = 8_000;

    /// <summary>Whether it is the path of a file or directory; the root is none.</summary>
    public static bool IsValid(string path) =>
        path.Length is > 1 and <= MaxCharacters && path[0] == '/' && path[^1] != '/'
        && path.AsSpan().Count('/') <= MaxNames && !path.Contains("//", StringComparison.Ordinal);

    /// <summary>Empty: the root.</summary>
    public static string ParentOf(string path) => path[..path.LastIndexOf('/')];

    public static string NameOf(string path) => path[(path.LastIndexOf('/') + 1)..];

    public static bool IsBelow(string path, string directory) =>
        path.StartsWith(directory, StringComparison.Ordinal) && path.Length > directory.Length
        && path[directory.Length] == '/';
}
