namespace Tango.ZooKeeper;

/// <summary>Tells a partition of a new one. The partition of the parent gets a node in its place, which is listed and
/// not read. Part of one transaction with the new partition's <see cref="AdoptRecord"/>.</summary>
public sealed record MountRecord(string Path, string ObjectName) : TreeRecord
{
    public override int Number => Mutators.Mount;

    internal override TreeResult Decide(WorkingTree tree)
    {
        if (!MountTable.MayMount(Path)) throw Contradiction("it is no path of a mount");
        // Older front ends would stop at the record.
        if (tree.FrontEnds.Rows.Any(static row => !row.IsDown && row.CodeLevel < TreeLevel.Partitions))
            throw Contradiction("a front end does not know partitions");
        var parentPath = NodePath.ParentOf(Path)!;
        var isHere = tree.Mounts.IsHere(parentPath);
        tree.Level = Math.Max(tree.Level, TreeLevel.Partitions);
        tree.Mounts = tree.Mounts.Add(Path, ObjectName);
        if (!isHere) return OpResult.Done;
        if (tree.Find(parentPath) is not { } parent || tree.Find(Path) is not null)
            throw Contradiction("the path is not free");
        tree.Add(Path, null, AclList.Open, NodeOwner.None, parent);
        return OpResult.Done;
    }

    internal override void Write(ref MessagePackWriter writer)
    {
        writer.WriteArrayHeader(2);
        writer.WriteRequiredText(Path);
        writer.WriteRequiredText(ObjectName);
    }

    internal static MountRecord Read(ref MessagePackReader reader)
    {
        reader.ReadArrayHeader(2);
        return new MountRecord(reader.RequireText(), reader.RequireText());
    }

    // The transaction has read that it is not so, and has committed.
    private TangoFormatException Contradiction(string reason) =>
        new($"'{Path}' was mounted though {reason}");
}
