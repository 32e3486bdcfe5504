namespace Salus.Store.Files;

/// <summary>The newest used index pages of all regions of a machine, in memory. Pages do not change: a changed page has
/// another place. Thread-safe.</summary>
/// <param name="capacity">Bytes; at least one page is kept.</param>
public sealed class IndexPages(IRegionFiles files, long capacity)
{
    // A page, and about as much as dictionary and list need for it.
    private const int PageCost = IndexPage.Size + 256;

    private readonly Lock _gate = new();
    private readonly Dictionary<(RegionKey Region, PagePlace Place), LinkedListNode<CachedPage>> _found = [];

    // The least recently used one first.
    private readonly LinkedList<CachedPage> _order = [];

    public int Count
    {
        get
        {
            lock (_gate) return _found.Count;
        }
    }

    /// <summary>Pages that were read from files.</summary>
    public long Loads { get; private set; }

    /// <summary>A page, verified when it was read.</summary>
    /// <exception cref="MalformedDataException">The page is damaged: take its file from a peer.</exception>
    public async ValueTask<IndexPage> GetAsync(RegionKey region, PagePlace place)
    {
        if (place.File == 0) return IndexPage.Empty;
        var key = (region, place);
        lock (_gate)
        {
            if (_found.TryGetValue(key, out var node))
            {
                _order.Remove(node);
                _order.AddLast(node);
                return node.Value.Page;
            }
        }

        var page = await CheckpointFile.ReadPageAsync(files, region, place);
        lock (_gate)
        {
            Loads++;
            Keep(key, page);
        }

        return page;
    }

    /// <summary>Drops the pages of a file that is deleted.</summary>
    public void Drop(RegionFile file)
    {
        lock (_gate)
        {
            for (var node = _order.First; node is not null;)
            {
                var next = node.Next;
                var (region, place) = node.Value.Key;
                if (region == file.Region && place.File == file.Number) Remove(node);
                node = next;
            }
        }
    }

    private void Keep((RegionKey, PagePlace) key, IndexPage page)
    {
        // Two readers may have missed it at once.
        if (_found.ContainsKey(key)) return;
        while (_found.Count > 0 && (_found.Count + 1L) * PageCost > capacity) Remove(_order.First!);
        _found[key] = _order.AddLast(new CachedPage(key, page));
    }

    private void Remove(LinkedListNode<CachedPage> node)
    {
        _found.Remove(node.Value.Key);
        _order.Remove(node);
    }

    private sealed record CachedPage((RegionKey Region, PagePlace Place) Key, IndexPage Page);
}
