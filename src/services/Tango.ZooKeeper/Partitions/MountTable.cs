namespace Tango.ZooKeeper;

/// <summary>A part of the name space that another object holds: a node with all below it.</summary>
/// <param name="Path">The node.</param>
/// <param name="ObjectName">Name of the partition's object.</param>
public sealed record TreeMount(string Path, string ObjectName);

/// <summary>
/// The partitions of a service, equal in all of them, and which one this is. Mounts are never taken away, so that their
/// number tells one table from another.
/// </summary>
internal sealed class MountTable
{
    private readonly ImmutableSortedDictionary<string, string> _names;

    private MountTable(string home, ImmutableSortedDictionary<string, string> names) => (Home, _names) = (home, names);

    /// <summary>A service of one partition.</summary>
    public static MountTable None { get; } =
        new(NodePath.Root, ImmutableSortedDictionary.Create<string, string>(StringComparer.Ordinal));

    /// <summary>The mount of this partition; the root for all that is not mounted.</summary>
    public string Home { get; }

    public int Count => _names.Count;

    /// <summary>By path.</summary>
    public IEnumerable<TreeMount> Mounts => _names.Select(static pair => new TreeMount(pair.Key, pair.Value));

    public bool Has(string path) => _names.ContainsKey(path);

    public MountTable Add(string path, string name) => new(Home, _names.SetItem(path, name));

    public MountTable At(string home) => new(home, _names);

    /// <summary>Whether nodes of a service may be at and below the path, and it is not the root.</summary>
    public static bool MayMount(string path) => path != NodePath.Root && NodePath.IsValid(path);

    /// <summary>The longest mount that a path is at or below.</summary>
    public string OwnerOf(string path)
    {
        if (_names.Count == 0) return NodePath.Root;
        for (var at = path; at.Length > 1;)
        {
            if (_names.ContainsKey(at)) return at;
            var slash = at.LastIndexOf('/');
            if (slash <= 0) break;
            at = at[..slash];
        }

        return NodePath.Root;
    }

    public bool IsHere(string path) => _names.Count == 0 || OwnerOf(path) == Home;

    public void Write(ref MessagePackWriter writer)
    {
        writer.WriteArrayHeader(2);
        writer.WriteText(Home);
        writer.WriteMapHeader(_names.Count);
        foreach (var (path, name) in _names)
        {
            writer.WriteText(path);
            writer.WriteText(name);
        }
    }

    public static MountTable Read(ref MessagePackReader reader)
    {
        reader.ReadArrayHeader(2);
        var table = None.At(reader.RequireText());
        for (var left = reader.ReadMapCount(); left > 0; left--)
        {
            var path = reader.RequireText();
            if (!MayMount(path)) throw new TangoFormatException($"'{path}' is no path of a mount");
            table = table.Add(path, reader.RequireText());
        }

        if (table.Home != NodePath.Root && !table.Has(table.Home))
            throw new TangoFormatException($"The partition '{table.Home}' is not mounted");
        return table;
    }
}
