namespace Salus.Trees;

/// <summary>Keeps the loaded pages of a volume's trees within a budget: the least recently used go first. Pages that a
/// batch under way has changed stay.</summary>
internal sealed class TreeCache(ImmutableArray<RegionTree> regions, long bytes)
{
    // A page's leaves, their nodes, and the objects around them.
    private const int PageBytes = 4608;

    // Pages that cannot go are passed over, so many at a time: the cache is over its budget as long as they stay.
    private const int Tries = 8;

    private readonly int _capacity = (int)Math.Clamp(bytes / PageBytes, 16, int.MaxValue);
    private readonly Dictionary<(int Region, int Page), LinkedListNode<(int Region, int Page)>> _nodes = [];

    // Least recently used first.
    private readonly LinkedList<(int Region, int Page)> _order = [];

    public int Count => _nodes.Count;

    public void Touch(int region, int page)
    {
        if (_nodes.TryGetValue((region, page), out var node))
        {
            if (node == _order.Last) return;
            _order.Remove(node);
            _order.AddLast(node);
            return;
        }

        _nodes.Add((region, page), _order.AddLast((region, page)));
        for (var tries = Tries; _nodes.Count > _capacity && tries > 0; tries--) DropOldest();
    }

    private void DropOldest()
    {
        var oldest = _order.First!;
        _order.RemoveFirst();
        if (regions[oldest.Value.Region].TryDrop(oldest.Value.Page)) _nodes.Remove(oldest.Value);
        else _order.AddLast(oldest);
    }
}
