using System.Collections.Immutable;
using NamespaceSample.Model;
using Tango;
using Tango.Collections;

namespace NamespaceSample.Service;

/// <summary>Operations of transactions on the entries of all partitions. Each method is part of the caller's
/// transaction.</summary>
public sealed class NamespaceTree(ImmutableArray<Partition> partitions)
{
    public ImmutableArray<Partition> Partitions => partitions;

    public Partition Of(string path) => partitions[PartitionMap.IndexOf(path)];

    public async ValueTask<Entry?> FindAsync(string path, CancellationToken cancellationToken) =>
        (await Of(path).Entries.TryGetAsync(path, cancellationToken)).Value.Value;

    /// <exception cref="NamespaceException">There is none.</exception>
    public async ValueTask<Entry> GetAsync(string path, CancellationToken cancellationToken) =>
        await FindAsync(path, cancellationToken) ?? throw new NamespaceException(NamespaceError.NotFound, path);

    /// <summary>The names in a directory, of all partitions if it is the root.</summary>
    public async ValueTask<ImmutableSortedSet<string>> NamesAsync(string path, CancellationToken cancellationToken)
    {
        if (path != TreePath.Root) return await Of(path).Entries.ChildrenAsync(path, cancellationToken);
        var names = ImmutableSortedSet.Create<string>(StringComparer.Ordinal);
        foreach (Partition partition in partitions)
            names = names.Union(await partition.Entries.ChildrenAsync(path, cancellationToken));
        return names;
    }

    /// <exception cref="NamespaceException">The path is there, or its directory is not.</exception>
    public async ValueTask AddAsync(string path, Entry entry, CancellationToken cancellationToken)
    {
        string parent = TreePath.ParentOf(path);
        if (parent != TreePath.Root && await FindAsync(parent, cancellationToken) is { IsDirectory: false })
            throw new NamespaceException(NamespaceError.NotADirectory, parent);
        Require(await Of(path).Entries.CreateAsync(path, entry, cancellationToken), path);
    }

    public async ValueTask SetAsync(string path, Entry entry, CancellationToken cancellationToken) =>
        Require(await Of(path).Entries.SetAsync(path, entry, cancellationToken: cancellationToken), path);

    public async ValueTask SetAttributeAsync(
        string path, string name, string? value, CancellationToken cancellationToken)
    {
        Entry entry = await GetAsync(path, cancellationToken);
        ImmutableSortedDictionary<string, string> attributes =
            NamespaceAttributes.With(await AttributesAsync(path, entry.Id, cancellationToken), name, value);
        if (attributes.IsEmpty) await Of(path).Attributes.RemoveAsync(entry.Id, cancellationToken);
        else await Of(path).Attributes.SetAsync(entry.Id, attributes, cancellationToken);
    }

    public async ValueTask<ImmutableSortedDictionary<string, string>> AttributesAsync(
        string path, string id, CancellationToken cancellationToken) =>
        (await Of(path).Attributes.TryGetAsync(id, cancellationToken)).Value ?? NamespaceAttributes.None;

    /// <summary>Deletes a file, or a directory that has nothing in it unless <paramref name="withAll"/>.</summary>
    public async ValueTask DeleteAsync(string path, bool withAll, CancellationToken cancellationToken)
    {
        Partition partition = Of(path);
        var subtree = await partition.Entries.SubtreeAsync(path, cancellationToken);
        if (subtree.IsEmpty) throw new NamespaceException(NamespaceError.NotFound, path);
        if (!withAll && subtree.Length > 1) throw new NamespaceException(NamespaceError.NotEmpty, path);
        await partition.Entries.DeleteSubtreeAsync(path, cancellationToken);
        foreach ((_, TreeNode<Entry> node) in subtree) await TakeAttributesAsync(partition, node, cancellationToken);
    }

    /// <summary>Moves a file, or a directory with all below it, into the other partition if need be.</summary>
    public async ValueTask RenameAsync(string from, string to, CancellationToken cancellationToken)
    {
        Entry moved = await GetAsync(from, cancellationToken);
        if (from != to && TreePath.IsWithin(to, from)) throw new NamespaceException(NamespaceError.IntoItself, from);
        Partition source = Of(from), target = Of(to);
        if (source == target)
        {
            string parent = TreePath.ParentOf(to);
            if (parent != TreePath.Root && await FindAsync(parent, cancellationToken) is { IsDirectory: false })
                throw new NamespaceException(NamespaceError.NotADirectory, parent);
            Require(await source.Entries.MoveAsync(from, to, cancellationToken), to);
            return;
        }

        var subtree = await source.Entries.SubtreeAsync(from, cancellationToken);
        await source.Entries.DeleteSubtreeAsync(from, cancellationToken);
        await AddAsync(to, moved, cancellationToken);
        foreach ((string path, TreeNode<Entry> node) in subtree)
        {
            if (path != from)
                Require(await target.Entries.CreateAsync(to + path[from.Length..], node.Value, cancellationToken), to);
            if ((await TakeAttributesAsync(source, node, cancellationToken)).TryGet(out var attributes))
                await target.Attributes.SetAsync(node.Value.Id, attributes, cancellationToken);
        }
    }

    // Only what is there is removed: most entries have none, and a removal is a write.
    private static async ValueTask<Lookup<ImmutableSortedDictionary<string, string>>> TakeAttributesAsync(
        Partition partition, TreeNode<Entry> node, CancellationToken cancellationToken)
    {
        var attributes = await partition.Attributes.TryGetAsync(node.Value.Id, cancellationToken);
        if (attributes.Found) await partition.Attributes.RemoveAsync(node.Value.Id, cancellationToken);
        return attributes;
    }

    private static void Require(TreeOutcome outcome, string path)
    {
        if (outcome != TreeOutcome.Done)
            throw new NamespaceException(outcome switch
            {
                TreeOutcome.NotFound => NamespaceError.NotFound,
                TreeOutcome.Exists => NamespaceError.Exists,
                TreeOutcome.NoParent => NamespaceError.NoParent,
                TreeOutcome.HasChildren => NamespaceError.NotEmpty,
                _ => NamespaceError.IntoItself,
            }, path);
    }
}
