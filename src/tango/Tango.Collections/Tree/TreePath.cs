namespace Tango.Collections;

/// <summary>Paths of a <see cref="TangoTree{TValue}"/>: <c>/</c> is the root, <c>/a/b</c> a node. Names are any
/// characters but the slash, compared ordinally.</summary>
public static class TreePath
{
    public const string Root = "/";

    /// <summary>Whether it begins with a slash, does not end with one (but for the root), and has no empty
    /// name.</summary>
    public static bool IsValid(string? path) => path is Root
        || path is { Length: > 1 } && path[0] == '/' && path[^1] != '/'
        && !path.Contains("//", StringComparison.Ordinal);

    /// <summary>The path of the parent; of the root itself: the root.</summary>
    public static string ParentOf(string path)
    {
        ArgumentException.ThrowIfNullOrEmpty(path);
        var slash = path.LastIndexOf('/');
        return slash <= 0 ? Root : path[..slash];
    }

    /// <summary>The last name; empty for the root.</summary>
    public static string NameOf(string path)
    {
        ArgumentException.ThrowIfNullOrEmpty(path);
        return path[(path.LastIndexOf('/') + 1)..];
    }

    public static string Combine(string parent, string name) => parent == Root ? $"/{name}" : $"{parent}/{name}";

    /// <summary>Whether the path is below the other one, or is that.</summary>
    public static bool IsWithin(string path, string ancestor)
    {
        ArgumentNullException.ThrowIfNull(path);
        ArgumentNullException.ThrowIfNull(ancestor);
        return ancestor == Root || path.StartsWith(ancestor, StringComparison.Ordinal)
            && (path.Length == ancestor.Length || path[ancestor.Length] == '/');
    }

    internal static string Require(string path) => IsValid(path)
        ? path
        : throw new ArgumentException($"'{path}' is not the path of a node: '/', or names that each follow a slash");

    internal static string RequireNode(string path) => Require(path) != Root
        ? path
        : throw new ArgumentException("The root is always there and has no value", nameof(path));
}
