using System.Globalization;

namespace NamenodeSample.Tree;

/// <summary>A file or a directory.</summary>
internal sealed class Node(long id, bool isDirectory)
{
    public long Id => id;

    /// <summary>By name, in ordinal order; null: a file.</summary>
    public SortedDictionary<string, Node>? Children { get; } = isDirectory ? new(StringComparer.Ordinal) : null;

    public int Mode { get; set; } = isDirectory ? 0x1ED : 0x1A4;

    /// <summary>Empty: of no user.</summary>
    public string Owner { get; set; } = "";

    public string Group { get; set; } = "";

    /// <summary>Milliseconds since 1970; 0: unknown, as for the next.</summary>
    public long Modified { get; set; }

    public long Accessed { get; set; }

    public bool IsComplete { get; set; }

    public List<Block> Blocks { get; } = [];

    /// <summary>The node with all below it.</summary>
    public long Count() => 1 + (Children?.Values.Sum(static child => child.Count()) ?? 0);

    /// <summary>Names and characters of the longest path below, each for itself; 0 where there is none.</summary>
    public (int Names, int Characters) Reach()
    {
        (int Names, int Characters) reach = (0, 0);
        foreach (var (name, child) in Children ?? [])
        {
            var (names, characters) = child.Reach();
            reach = (Math.Max(reach.Names, 1 + names), Math.Max(reach.Characters, 1 + name.Length + characters));
        }

        return reach;
    }

    public long Length => Blocks.Sum(static block => block.Length);

    public void Set(Attributes? attributes)
    {
        Owner = attributes?.Owner ?? Owner;
        Group = attributes?.Group ?? Group;
        Mode = attributes?.Mode ?? Mode;
        Modified = attributes?.Modified ?? Modified;
        Accessed = attributes?.Accessed ?? Accessed;
    }

    public Attributes ToAttributes() => new(Owner, Group, Mode, Modified, Accessed);

    public override string ToString() => string.Create(CultureInfo.InvariantCulture,
        $"{(Children is null ? IsComplete ? "file" : "open" : "directory")} {Id} {Mode} {string.Join(',', Blocks)}")
        + (Owner.Length + Group.Length + Modified + Accessed == 0
            ? ""
            : string.Create(CultureInfo.InvariantCulture, $" {Owner}:{Group} {Modified} {Accessed}"));
}

/// <summary>A block of a file.</summary>
[MessagePackObject]
public readonly record struct Block([property: Key(0)] long Id, [property: Key(1)] long Length)
{
    public override string ToString() => string.Create(CultureInfo.InvariantCulture, $"{Id}:{Length}");
}
