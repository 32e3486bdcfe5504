using System.Collections.Immutable;

namespace Tango.Collections;

/// <summary>Operations on more than one node: each is one transaction, or belongs to the caller's.</summary>
public sealed partial class TangoTree<TValue>
{
    private const long FirstVersion = 1;

    /// <summary>Creates a node, unless it is there.</summary>
    /// <returns>Done, Exists or NoParent.</returns>
    /// <exception cref="TangoInDoubtException">As from every operation on the shape, outside a transaction.</exception>
    public ValueTask<TreeOutcome> CreateAsync(
        string path, TValue value, CancellationToken cancellationToken = default)
    {
        TreePath.RequireNode(path);
        return AsOneAsync(async () =>
        {
            if (await FindFaultAsync(path, cancellationToken) is { } fault) return fault;
            await PutAsync(path, value, FirstVersion, cancellationToken);
            await LinkAsync(ChildrenOf(TreePath.ParentOf(path)), TreePath.NameOf(path), cancellationToken);
            return TreeOutcome.Done;
        }, cancellationToken);
    }

    /// <summary>Deletes a node that has no children.</summary>
    /// <param name="expectedVersion">Null: whatever it has.</param>
    /// <returns>Done, NotFound, WrongVersion or HasChildren.</returns>
    public ValueTask<TreeOutcome> DeleteAsync(
        string path, long? expectedVersion = null, CancellationToken cancellationToken = default)
    {
        TreePath.RequireNode(path);
        return AsOneAsync(async () =>
        {
            if (!(await FindAsync(path, cancellationToken)).TryGet(out var node)) return TreeOutcome.NotFound;
            if (expectedVersion is { } expected && expected != node.Version) return TreeOutcome.WrongVersion;
            if (!(await NamesAsync(ChildrenOf(path), cancellationToken)).IsEmpty) return TreeOutcome.HasChildren;
            await EraseAsync(path, cancellationToken);
            await UnlinkAsync(ChildrenOf(TreePath.ParentOf(path)), TreePath.NameOf(path), cancellationToken);
            return TreeOutcome.Done;
        }, cancellationToken);
    }

    /// <summary>Deletes a node and everything below it.</summary>
    /// <returns>How many nodes: 0 if there was none.</returns>
    public ValueTask<int> DeleteSubtreeAsync(string path, CancellationToken cancellationToken = default)
    {
        TreePath.RequireNode(path);
        return AsOneAsync(async () =>
        {
            var subtree = await ReadSubtreeAsync(path, cancellationToken);
            if (subtree.Count > 0) await EraseSubtreeAsync(path, subtree, cancellationToken);
            return subtree.Count;
        }, cancellationToken);
    }

    /// <summary>Moves a node and everything below it to a path that is free. Values and versions stay.</summary>
    /// <returns>Done, NotFound, Exists, NoParent or IntoItself.</returns>
    public ValueTask<TreeOutcome> MoveAsync(string from, string to, CancellationToken cancellationToken = default)
    {
        TreePath.RequireNode(from);
        TreePath.RequireNode(to);
        return AsOneAsync(async () =>
        {
            var subtree = await ReadSubtreeAsync(from, cancellationToken);
            if (subtree.Count == 0) return TreeOutcome.NotFound;
            if (from != to && TreePath.IsWithin(to, from)) return TreeOutcome.IntoItself;
            if (await FindFaultAsync(to, cancellationToken) is { } fault) return fault;
            await EraseSubtreeAsync(from, subtree, cancellationToken);
            foreach (var (path, node, names) in subtree)
            {
                var moved = to + path[from.Length..];
                await PutAsync(moved, node.Value, node.Version, cancellationToken);
                if (!names.IsEmpty) await NameAsync(ChildrenOf(moved), names, cancellationToken);
            }

            await LinkAsync(ChildrenOf(TreePath.ParentOf(to)), TreePath.NameOf(to), cancellationToken);
            return TreeOutcome.Done;
        }, cancellationToken);
    }

    /// <summary>Linearizable. A node and everything below it, at one position: parents before their children, children
    /// in ordinal order. None if there is no such node. Of the root: all nodes.</summary>
    public ValueTask<ImmutableArray<KeyValuePair<string, TreeNode<TValue>>>> SubtreeAsync(
        string path, CancellationToken cancellationToken = default)
    {
        TreePath.Require(path);
        return AsOneAsync(
            async () => (await ReadSubtreeAsync(path, cancellationToken))
                .Select(static part => KeyValuePair.Create(part.Path, part.Node)).ToImmutableArray(),
            cancellationToken);
    }

    // Why no node can be created there.
    private async ValueTask<TreeOutcome?> FindFaultAsync(string path, CancellationToken cancellationToken)
    {
        if (!await ExistsAsync(TreePath.ParentOf(path), cancellationToken)) return TreeOutcome.NoParent;
        return (await FindAsync(path, cancellationToken)).Found ? TreeOutcome.Exists : null;
    }

    private async ValueTask<List<Part>> ReadSubtreeAsync(string path, CancellationToken cancellationToken)
    {
        var parts = new List<Part>();
        // The next one on top: the depth of the tree is its users' business.
        var rest = new Stack<string>([path]);
        while (rest.TryPop(out var next))
        {
            var isRoot = next == TreePath.Root;
            if (!(await FindAsync(next, cancellationToken)).TryGet(out var node) && !isRoot) continue;
            var names = await NamesAsync(ChildrenOf(next), cancellationToken);
            if (!isRoot) parts.Add(new Part(next, node, names));
            foreach (var name in names.Reverse()) rest.Push(TreePath.Combine(next, name));
        }

        return parts;
    }

    private async ValueTask EraseSubtreeAsync(
        string path, List<Part> subtree, CancellationToken cancellationToken)
    {
        foreach (var part in subtree)
        {
            await EraseAsync(part.Path, cancellationToken);
            if (!part.Names.IsEmpty) await NameAsync(ChildrenOf(part.Path), s_noNames, cancellationToken);
        }

        await UnlinkAsync(ChildrenOf(TreePath.ParentOf(path)), TreePath.NameOf(path), cancellationToken);
    }

    private readonly record struct Part(string Path, TreeNode<TValue> Node, ImmutableSortedSet<string> Names);
}
