using System.Globalization;

namespace NamenodeSample.Tree;

/// <summary>A file or a directory.</summary>
internal sealed class Node(long id, bool isDirectory)
{
    public long Id => id;

    /// <summary>By name, in ordinal order; null: a file.</summary>
    public SortedDictionary<string, Node>? Children { get; } = isDirectory ? new(StringComparer.Ordinal) : null;

    public int Mode { get; set; } = isDirectory ? 0x1ED : 0x1A4;

    public bool IsComplete { get; set; }

    public List<Block> Blocks { get; } = [];

    /// <summary>The node with all below it.</summary>
    public long Count() => 1 + (Children?.Values.Sum(static child => child.Count()) ?? 0);

    public override string ToString() => string.Create(CultureInfo.InvariantCulture,
        $"{(Children is null ? IsComplete ? "file" : "open" : "directory")} {Id} {Mode} {string.Join(',', Blocks)}");
}

/// <summary>A block of a file.</summary>
[MessagePackObject]
public readonly record struct Block([property: Key(0)] long Id, [property: Key(1)] long Length)
{
    public override string ToString() => string.Create(CultureInfo.InvariantCulture, $"{Id}:{Length}");
}
