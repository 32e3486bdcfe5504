namespace NamespaceSample.Model;

/// <summary>A change of the namespace: one transaction.</summary>
/// <param name="Path">As <see cref="Tango.Collections.TreePath"/> has them.</param>
/// <param name="Time">Unix time in seconds.</param>
public abstract record NamespaceChange(string Path, long Time)
{
    /// <summary>Makes a directory; its parent must be there.</summary>
    public sealed record MakeDirectory(string Path, string Id, long Time) : NamespaceChange(Path, Time);

    /// <summary>Creates a file; its parent must be there.</summary>
    public sealed record CreateFile(string Path, string Id, long Size, long Time) : NamespaceChange(Path, Time);

    /// <summary>Gives a file new contents.</summary>
    public sealed record Write(string Path, long Size, long Time) : NamespaceChange(Path, Time);

    /// <summary>Sets an attribute of a file or directory, or removes it.</summary>
    /// <param name="Value">Null: it is removed.</param>
    public sealed record SetAttribute(string Path, string Name, string? Value, long Time)
        : NamespaceChange(Path, Time);

    /// <summary>Moves a file, or a directory with all below it, to a path that is free.</summary>
    public sealed record Rename(string Path, string To, long Time) : NamespaceChange(Path, Time);

    /// <summary>Deletes a file or directory.</summary>
    /// <param name="WithAll">A directory goes with all below it; else it must be empty.</param>
    public sealed record Delete(string Path, bool WithAll, long Time) : NamespaceChange(Path, Time);
}
