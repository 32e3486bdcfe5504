namespace Tango.ZooKeeper;

/// <summary>
/// Makes nodes as another service has them: data, access control, times and counters. Parents stand before their
/// children. No rights and no hard limits are looked at: the record is an operator's.
/// </summary>
public sealed record ImportRecord(ImmutableArray<ImportedNode> Nodes) : TreeRecord
{
    public override int Number => Mutators.Import;

    internal override TreeResult Decide(WorkingTree tree)
    {
        var refused = ImmutableArray.CreateBuilder<RefusedNode>();
        foreach (var node in Nodes)
        {
            var error = tree.Import(node);
            if (error != ZooKeeperError.Ok) refused.Add(new RefusedNode(node.Path, error));
        }

        return new ImportResult(refused.ToImmutable());
    }

    internal override void Write(ref MessagePackWriter writer)
    {
        writer.WriteArrayHeader(Nodes.Length);
        foreach (var node in Nodes) node.Write(ref writer);
    }

    internal static ImportRecord Read(ref MessagePackReader reader)
    {
        var nodes = ImmutableArray.CreateBuilder<ImportedNode>(reader.ReadCount());
        while (nodes.Count < nodes.Capacity) nodes.Add(ImportedNode.Read(ref reader));
        return new ImportRecord(nodes.MoveToImmutable());
    }
}

/// <summary>A node that no import made, and why.</summary>
public readonly record struct RefusedNode(string Path, ZooKeeperError Error);
