namespace NamespaceSample.Model;

/// <summary>Kind of a path of the namespace.</summary>
public enum EntryKind
{
    File,
    Directory,
}

/// <summary>A file or directory of the namespace.</summary>
/// <param name="Id">Given when it is created; a rename keeps it, also one into the other partition.</param>
/// <param name="Size">In bytes; 0 for a directory.</param>
/// <param name="Revision">1 when it is created, and one more with each write.</param>
/// <param name="Modified">Unix time in seconds.</param>
/// <param name="IsImplied">A directory that is there for what is below it, and goes with the last of that.</param>
[MessagePackObject]
public sealed record Entry(
    [property: Key(0)] EntryKind Kind,
    [property: Key(1)] string Id,
    [property: Key(2)] long Size,
    [property: Key(3)] long Revision,
    [property: Key(4)] long Modified,
    [property: Key(5)] bool IsImplied)
{
    [IgnoreMember]
    public bool IsDirectory => Kind == EntryKind.Directory;

    public static Entry File(string id, long size, long modified) => new(EntryKind.File, id, size, 1, modified, false);

    public static Entry Directory(string id, long modified, bool isImplied = false) =>
        new(EntryKind.Directory, id, 0, 1, modified, isImplied);

    public Entry Written(long size, long modified) =>
        this with { Size = size, Revision = Revision + 1, Modified = modified };
}
