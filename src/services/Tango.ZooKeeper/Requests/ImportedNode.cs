namespace Tango.ZooKeeper;

/// <summary>A node as an import has it: without zxids, which are numbers of another log.</summary>
/// <param name="Acl">Kept as it is, also schemes that no client can prove here.</param>
/// <param name="Ctime">Time of the create, in ms since 1970.</param>
/// <param name="Mtime">Time of the newest data, in ms since 1970.</param>
/// <param name="Creates">How many nodes were created below: <see cref="NodeStat.Creates"/>. Never falls.</param>
public sealed record ImportedNode(
    string Path, byte[]? Data, ImmutableArray<AclEntry> Acl, long Ctime, long Mtime, int Version, int Creates,
    int Aversion)
{
    private const int Fields = 8;

    /// <summary>A node of this tree.</summary>
    public static ImportedNode Of(ZNode node)
    {
        ArgumentNullException.ThrowIfNull(node);
        return new ImportedNode(node.Path, node.RawData, node.Acl.Entries, node.Ctime, node.Mtime, node.Version,
            node.Creates, node.Aversion);
    }

    public bool Equals(ImportedNode? other) => other is not null
        && (Path, Ctime, Mtime, Version, Creates, Aversion)
            == (other.Path, other.Ctime, other.Mtime, other.Version, other.Creates, other.Aversion)
        && (Data is null) == (other.Data is null) && Data.AsSpan().SequenceEqual(other.Data)
        && Acl.AsSpan().SequenceEqual(other.Acl.AsSpan());

    public override int GetHashCode() => HashCode.Combine(Path, Version, Creates);

    /// <summary>Whether a node may be like this: with a path, and a list that has an entry and no null.</summary>
    internal bool IsValid => NodePath.IsValid(Path) && !Acl.IsDefaultOrEmpty
        && Acl.All(static entry => entry is { Scheme: not null, Id: not null });

    internal void Write(ref MessagePackWriter writer)
    {
        writer.WriteArrayHeader(Fields);
        writer.WriteRequiredText(Path);
        writer.WriteData(Data);
        writer.WriteAcl(Acl);
        writer.Write(Ctime);
        writer.Write(Mtime);
        writer.Write(Version);
        writer.Write(Creates);
        writer.Write(Aversion);
    }

    internal static ImportedNode Read(ref MessagePackReader reader)
    {
        reader.ReadArrayHeader(Fields);
        return new ImportedNode(reader.RequireText(), reader.ReadData(), reader.ReadAcl(), reader.ReadInt64(),
            reader.ReadInt64(), reader.ReadInt32(), reader.ReadInt32(), reader.ReadInt32());
    }
}
