namespace NamespaceSample.History;

/// <summary>An operation of a change. Those of one change are simultaneous.</summary>
public abstract record HistoryOperation(string Path)
{
    /// <summary>The file comes to be, with the directories above it.</summary>
    public sealed record Add(string Path) : HistoryOperation(Path);

    /// <summary>The file has new contents, or another type.</summary>
    public sealed record Modify(string Path) : HistoryOperation(Path);

    /// <summary>The file is gone, and with it each directory that has nothing left.</summary>
    public sealed record Delete(string Path) : HistoryOperation(Path);

    /// <summary>The file is at another path.</summary>
    public sealed record Rename(string Path, string To) : HistoryOperation(Path);

    /// <summary>Another file comes to be, made from this one.</summary>
    public sealed record Copy(string Path, string To) : HistoryOperation(Path);
}

/// <summary>An atomic change.</summary>
/// <param name="Number">From 1.</param>
/// <param name="Line">Line of the file on which the change begins.</param>
/// <param name="Time">Unix time in seconds.</param>
public sealed record HistoryChange(
    int Number, int Line, string Id, long Time, IReadOnlyList<HistoryOperation> Operations);
