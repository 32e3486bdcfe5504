namespace NamenodeSample.Tree;

/// <summary>Paths: a slash, then names with slashes between them.</summary>
internal static class Paths
{
    /// <summary>Whether it is the path of a file or directory; the root is none.</summary>
    public static bool IsValid(string path) =>
        path.Length > 1 && path[0] == '/' && path[^1] != '/' && !path.Contains("//", StringComparison.Ordinal);

    /// <summary>Empty: the root.</summary>
    public static string ParentOf(string path) => path[..path.LastIndexOf('/')];

    public static string NameOf(string path) => path[(path.LastIndexOf('/') + 1)..];

    public static bool IsBelow(string path, string directory) =>
        path.StartsWith(directory, StringComparison.Ordinal) && path.Length > directory.Length
        && path[directory.Length] == '/';
}
