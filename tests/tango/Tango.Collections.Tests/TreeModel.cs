namespace Tango.Collections.Tests;

/// <summary>Model of a tree of numbers: a plain dictionary of paths, and scans of it.</summary>
internal sealed class TreeModel
{
    private readonly SortedDictionary<string, TreeNode<int>> _nodes = new(StringComparer.Ordinal);

    public int Count => _nodes.Count;

    public TreeOutcome Create(string path, int value)
    {
        if (FindFault(path) is { } fault) return fault;
        _nodes.Add(path, new TreeNode<int>(value, 1));
        return TreeOutcome.Done;
    }

    public TreeOutcome Set(string path, int value, long? expected)
    {
        if (!_nodes.TryGetValue(path, out TreeNode<int> node)) return TreeOutcome.NotFound;
        if (expected is { } version && version != node.Version) return TreeOutcome.WrongVersion;
        _nodes[path] = new TreeNode<int>(value, node.Version + 1);
        return TreeOutcome.Done;
    }

    public TreeOutcome Delete(string path, long? expected)
    {
        if (!_nodes.TryGetValue(path, out TreeNode<int> node)) return TreeOutcome.NotFound;
        if (expected is { } version && version != node.Version) return TreeOutcome.WrongVersion;
        if (Children(path).Length > 0) return TreeOutcome.HasChildren;
        _nodes.Remove(path);
        return TreeOutcome.Done;
    }

    public int DeleteSubtree(string path) => Subtree(path).Count(pair => _nodes.Remove(pair.Key));

    public TreeOutcome Move(string from, string to)
    {
        if (!_nodes.ContainsKey(from)) return TreeOutcome.NotFound;
        if (to.StartsWith(from + "/", StringComparison.Ordinal)) return TreeOutcome.IntoItself;
        if (FindFault(to) is { } fault) return fault;
        foreach ((string path, TreeNode<int> node) in Subtree(from))
        {
            _nodes.Remove(path);
            _nodes.Add(to + path[from.Length..], node);
        }

        return TreeOutcome.Done;
    }

    public Lookup<TreeNode<int>> Find(string path) =>
        _nodes.TryGetValue(path, out TreeNode<int> node) ? Lookup.Of(node) : Lookup<TreeNode<int>>.None;

    public bool Exists(string path) => path == "/" || _nodes.ContainsKey(path);

    public string[] Children(string path)
    {
        string prefix = path == "/" ? path : path + "/";
        return [.. _nodes.Keys.Where(p => p.StartsWith(prefix, StringComparison.Ordinal))
            .Select(p => p[prefix.Length..]).Where(name => !name.Contains('/', StringComparison.Ordinal))];
    }

    /// <summary>In the order of their names, level by level: as a walk meets them.</summary>
    public KeyValuePair<string, TreeNode<int>>[] Subtree(string path) =>
        [.. _nodes.Where(pair => path == "/" || pair.Key == path
                || pair.Key.StartsWith(path + "/", StringComparison.Ordinal))
            .OrderBy(pair => pair.Key.Replace('/', '\0'), StringComparer.Ordinal)];

    private TreeOutcome? FindFault(string path) =>
        !Exists(TreePath.ParentOf(path)) ? TreeOutcome.NoParent
        : _nodes.ContainsKey(path) ? TreeOutcome.Exists
        : null;
}
