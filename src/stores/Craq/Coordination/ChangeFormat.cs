namespace Craq.Coordination;

/// <summary>Bytes of a change in the directory's records: its number, then its parts.</summary>
internal static class ChangeFormat
{
    private const byte Remove = 1;
    private const byte Promote = 2;
    private const byte Reorder = 3;
    private const byte SetOptions = 4;
    private const byte Renew = 5;

    public static void Write(ref WireWriter w, ChainChange change)
    {
        switch (change)
        {
            case ChainChange.Remove remove:
                w.Byte(Remove);
                Nodes(ref w, remove.Nodes);
                w.Bool(remove.Destroyed);
                break;
            case ChainChange.Promote promote:
                w.Byte(Promote);
                w.Guid(promote.Node.Value);
                w.Int32(promote.Index);
                break;
            case ChainChange.Reorder reorder:
                w.Byte(Reorder);
                Nodes(ref w, reorder.Nodes);
                break;
            case ChainChange.SetOptions set:
                w.Byte(SetOptions);
                w.Placement(set.Placement);
                w.Options(set.Options);
                break;
            case ChainChange.Renew:
                w.Byte(Renew);
                break;
            default:
                throw new ArgumentOutOfRangeException(nameof(change), change.GetType().Name);
        }
    }

    public static ChainChange Read(ref WireReader r) => r.Byte() switch
    {
        Remove => new ChainChange.Remove(Nodes(ref r), r.Bool()),
        Promote => new ChainChange.Promote(new NodeId(r.Guid()), r.Int32()),
        Reorder => new ChainChange.Reorder(Nodes(ref r)),
        SetOptions => new ChainChange.SetOptions(r.Placement(), r.Options()),
        Renew => new ChainChange.Renew(),
        var kind => throw new MalformedDataException($"The kind {kind} of a change is unknown: update this node."),
    };

    private static void Nodes(ref WireWriter w, ImmutableArray<NodeId> nodes) =>
        w.Array(nodes.IsDefault ? [] : nodes, static (ref w, node) => w.Guid(node.Value));

    private static ImmutableArray<NodeId> Nodes(ref WireReader r) =>
        r.Array(16, static (ref r) => new NodeId(r.Guid()), ChainConfig.MaxMembers);
}
