using System.Collections.Immutable;

namespace Tango.Collections;

/// <summary>
/// A replicated tree of nodes with hierarchical paths (<see cref="TreePath"/>). Each node but the root has a value and
/// a version; any node can have children. The root is always there.
/// </summary>
/// <remarks>
/// In transactions, operations conflict as finely as this. What reads a node conflicts with each change of that node.
/// Creating a child reads the parent; creations beside each other do not conflict. Reading the names of the children
/// conflicts with each creation, deletion and move of a child, and with no change of a value or farther below. An
/// operation on a subtree conflicts with every change in it.
/// An operation that changes more than one node's value is several calls in one transaction, so that each has a
/// version key of its own; a change feed tells them one by one.
/// </remarks>
/// <typeparam name="TValue">Best an immutable type: then readers share the instances in the view; else each gets a
/// copy.</typeparam>
[TangoObject("tango.tree")]
public sealed partial class TangoTree<TValue> : TangoObject
{
    private static readonly ImmutableSortedSet<string> s_noNames =
        ImmutableSortedSet.Create<string>(StringComparer.Ordinal);

    // Invariant: the parent of a node is the root or a node, and has its name in _children, which has no other names
    // and no empty set.
    private ImmutableDictionary<string, TreeNode<TValue>> _nodes =
        ImmutableDictionary<string, TreeNode<TValue>>.Empty.WithComparers(
            StringComparer.Ordinal, AlwaysDifferent<TreeNode<TValue>>.Instance);

    private ImmutableDictionary<string, ImmutableSortedSet<string>> _children =
        ImmutableDictionary<string, ImmutableSortedSet<string>>.Empty.WithComparers(
            StringComparer.Ordinal, AlwaysDifferent<ImmutableSortedSet<string>>.Instance);

    /// <summary>Linearizable; none for the root, which has no value.</summary>
    public ValueTask<Lookup<TreeNode<TValue>>> TryGetAsync(
        string path, CancellationToken cancellationToken = default) =>
        FindAsync(TreePath.Require(path), cancellationToken);

    /// <summary>Linearizable; true for the root.</summary>
    public async ValueTask<bool> ExistsAsync(string path, CancellationToken cancellationToken = default) =>
        TreePath.Require(path) == TreePath.Root || (await FindAsync(path, cancellationToken)).Found;

    /// <summary>Linearizable. The names of the children, in ordinal order; none if there is no such node.</summary>
    public ValueTask<ImmutableSortedSet<string>> ChildrenAsync(
        string path, CancellationToken cancellationToken = default) =>
        NamesAsync(ChildrenOf(TreePath.Require(path)), cancellationToken);

    /// <summary>Linearizable; in a transaction it conflicts with every change of the tree.</summary>
    [Accessor]
    public partial ValueTask<int> CountAsync(CancellationToken cancellationToken = default);

    /// <summary>All nodes by their paths, at one position; taking it costs nothing. In a transaction it conflicts with
    /// every change of the tree.</summary>
    public async ValueTask<ImmutableDictionary<string, TreeNode<TValue>>> SnapshotAsync(
        CancellationToken cancellationToken = default)
    {
        var nodes = await NodesAsync(cancellationToken);
        // The view's own comparer never matches, a reader's must.
        return nodes.WithComparers(nodes.KeyComparer, EqualityComparer<TreeNode<TValue>>.Default);
    }

    /// <summary>Replaces the value of a node.</summary>
    /// <param name="expectedVersion">Null: whatever it has.</param>
    /// <returns>Done, NotFound or WrongVersion.</returns>
    public ValueTask<TreeOutcome> SetAsync(
        string path, TValue value, long? expectedVersion = null, CancellationToken cancellationToken = default) =>
        ReplaceAsync(TreePath.RequireNode(path), value, expectedVersion, cancellationToken);

    /// <summary>The key of a node is its path; the key of its children's names is the path and a slash.</summary>
    private static string ChildrenOf(string path) => path == TreePath.Root ? path : $"{path}/";

    [Mutator(1)]
    private partial ValueTask PutAsync(
        [VersionKey] string path, TValue value, long version, CancellationToken cancellationToken);

    [Mutator(2)]
    private partial ValueTask EraseAsync([VersionKey] string path, CancellationToken cancellationToken);

    [Mutator(3)]
    private partial ValueTask LinkAsync(
        [VersionKey] string children, string name, CancellationToken cancellationToken);

    [Mutator(4)]
    private partial ValueTask UnlinkAsync(
        [VersionKey] string children, string name, CancellationToken cancellationToken);

    [Mutator(5)]
    private partial ValueTask NameAsync(
        [VersionKey] string children, ImmutableSortedSet<string> names, CancellationToken cancellationToken);

    [Mutator(6)]
    private partial ValueTask<TreeOutcome> ReplaceAsync(
        [VersionKey] string path, TValue value, long? expected, CancellationToken cancellationToken);

    [Accessor]
    private partial ValueTask<Lookup<TreeNode<TValue>>> FindAsync(
        [VersionKey] string path, CancellationToken cancellationToken);

    [Accessor]
    private partial ValueTask<ImmutableSortedSet<string>> NamesAsync(
        [VersionKey] string children, CancellationToken cancellationToken);

    [Accessor]
    private partial ValueTask<ImmutableDictionary<string, TreeNode<TValue>>> NodesAsync(
        CancellationToken cancellationToken);

    private void ApplyPut(string path, TValue value, long version) =>
        _nodes = _nodes.SetItem(path, new TreeNode<TValue>(value, version));

    private void ApplyErase(string path) => _nodes = _nodes.Remove(path);

    private void ApplyLink(string children, string name) =>
        _children = _children.SetItem(children, ReadNames(children).Add(name));

    private void ApplyUnlink(string children, string name) => ApplyName(children, ReadNames(children).Remove(name));

    private void ApplyName(string children, ImmutableSortedSet<string> names) =>
        _children = names.IsEmpty ? _children.Remove(children) : _children.SetItem(children, names);

    private TreeOutcome ApplyReplace(string path, TValue value, long? expected)
    {
        if (!_nodes.TryGetValue(path, out var node)) return TreeOutcome.NotFound;
        if (expected is { } version && version != node.Version) return TreeOutcome.WrongVersion;
        ApplyPut(path, value, node.Version + 1);
        return TreeOutcome.Done;
    }

    private Lookup<TreeNode<TValue>> ReadFind(string path) =>
        _nodes.TryGetValue(path, out var node) ? Lookup.Of(node) : Lookup<TreeNode<TValue>>.None;

    private ImmutableSortedSet<string> ReadNames(string children) => _children.GetValueOrDefault(children, s_noNames);

    private ImmutableDictionary<string, TreeNode<TValue>> ReadNodes() => _nodes;

    private int ReadCount() => _nodes.Count;
}
