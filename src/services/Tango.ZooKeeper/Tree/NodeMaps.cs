using NodeMap = Tango.ZooKeeper.HashTrie<string, Tango.ZooKeeper.ZNode, Tango.ZooKeeper.NodeKeys>;

namespace Tango.ZooKeeper;

internal static class NodeMaps
{
    /// <summary>All nodes at and below a path; none if it does not exist. Parents stand before their
    /// children.</summary>
    // Without recursion: a client makes paths as deep as a record is long.
    public static IEnumerable<ZNode> Subtree(this NodeMap nodes, string path)
    {
        var open = new Stack<string>([path]);
        while (open.TryPop(out var next))
        {
            if (nodes.Find(next) is not { } node) continue;
            yield return node;
            foreach (var child in node.Children.Paths()) open.Push(child);
        }
    }
}
