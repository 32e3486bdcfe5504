namespace NamenodeSample.Tree;

/// <summary>A namenode's tree, for one thread at a time.</summary>
internal sealed class SharedTree
{
    private readonly Lock _gate = new();
    private NamespaceTree _tree = new();

    public T Use<T>(Func<NamespaceTree, T> use)
    {
        lock (_gate) return use(_tree);
    }

    public void Use(Action<NamespaceTree> use)
    {
        lock (_gate) use(_tree);
    }

    public void Replace(NamespaceTree tree)
    {
        lock (_gate) _tree = tree;
    }
}
