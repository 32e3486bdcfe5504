using Tango.Collections;

namespace NamespaceSample.Model;

/// <summary>Why a change or a look was refused.</summary>
public enum NamespaceError
{
    NotFound,
    Exists,
    NoParent,
    NotADirectory,
    NotAFile,
    NotEmpty,
    IntoItself,
    BadPath,
    BadSize,
}

/// <summary>Nothing has changed, and at one moment of the call that was right.</summary>
public sealed class NamespaceException(NamespaceError error, string path) : Exception(Text(error, path))
{
    public NamespaceError Error { get; } = error;

    public string Path { get; } = path;

    /// <exception cref="NamespaceException">The path is the root, or none.</exception>
    public static string RequireEntry(string path) => TreePath.IsValid(path) && path != TreePath.Root
        ? path
        : throw new NamespaceException(NamespaceError.BadPath, path);

    /// <exception cref="NamespaceException">The change is none, whatever is there.</exception>
    public static void Require(NamespaceChange change)
    {
        RequireEntry(change.Path);
        if (change is NamespaceChange.Rename rename) RequireEntry(rename.To);
        if (change is NamespaceChange.CreateFile { Size: < 0 } or NamespaceChange.Write { Size: < 0 })
            throw new NamespaceException(NamespaceError.BadSize, change.Path);
    }

    private static string Text(NamespaceError error, string path) => error switch
    {
        NamespaceError.NotFound => $"{path}: there is no such file or directory",
        NamespaceError.Exists => $"{path}: there is one already",
        NamespaceError.NoParent => $"{path}: its directory is not there",
        NamespaceError.NotADirectory => $"{path}: not a directory",
        NamespaceError.NotAFile => $"{path}: not a file",
        NamespaceError.NotEmpty => $"{path}: the directory is not empty",
        NamespaceError.IntoItself => $"{path}: a directory cannot be moved below itself",
        NamespaceError.BadSize => $"{path}: its size must not be negative",
        _ => $"'{path}' is not the path of a file or directory: it begins with a slash and does not end with one",
    };
}
