namespace Salus.Nbd.Writes;

/// <summary>
/// Blocks that partial writes have left lately, so that the next partial write of the same block reads nothing. A
/// cached block is what all writes that have left make of it, committed or not: only writes may be merged with it, as
/// they commit after those. Any thread.
/// </summary>
internal sealed class RecentBlocks(int blockSize, int capacity)
{
    private sealed class Entry(byte[] data)
    {
        public byte[] Data => data;

        public long Block;
        public LinkedListNode<Entry> Node = null!;
    }

    private readonly Lock _gate = new();

    // Guarded by _gate. _byBlock has the entries of _order, whose last one was used last.
    private readonly Dictionary<long, Entry> _byBlock = [];
    private readonly LinkedList<Entry> _order = new();

    public bool TryMerge(long block, Edge edge)
    {
        lock (_gate)
        {
            if (!_byBlock.TryGetValue(block, out var entry)) return false;
            Touch(entry);
            edge.Merge(entry.Data);
            return true;
        }
    }

    public void Put(long block, ReadOnlySpan<byte> data)
    {
        lock (_gate)
        {
            if (!_byBlock.TryGetValue(block, out var entry))
            {
                entry = Make();
                entry.Block = block;
                _byBlock.Add(block, entry);
            }

            data.CopyTo(entry.Data);
            Touch(entry);
        }
    }

    /// <summary>Forgets blocks that a write has replaced whole.</summary>
    public void Remove(long first, long blocks)
    {
        lock (_gate)
        {
            if (_byBlock.Count == 0) return;
            if (blocks <= _byBlock.Count)
            {
                for (var block = first; block < first + blocks; block++) Remove(block);
                return;
            }

            for (var node = _order.First; node is not null;)
            {
                var (block, next) = (node.Value.Block, node.Next);
                if (block >= first && block - first < blocks) Remove(block);
                node = next;
            }
        }
    }

    /// <summary>Forgets all: a write has failed, so that what the blocks hold is unknown.</summary>
    public void Clear()
    {
        lock (_gate)
        {
            _byBlock.Clear();
            _order.Clear();
        }
    }

    // The oldest entry's memory serves again.
    private Entry Make()
    {
        if (_byBlock.Count >= capacity && _order.First is { } oldest)
        {
            _byBlock.Remove(oldest.Value.Block);
            return oldest.Value;
        }

        var entry = new Entry(new byte[blockSize]);
        entry.Node = _order.AddLast(entry);
        return entry;
    }

    private void Remove(long block)
    {
        if (_byBlock.Remove(block, out var entry)) _order.Remove(entry.Node);
    }

    private void Touch(Entry entry)
    {
        if (_order.Last == entry.Node) return;
        _order.Remove(entry.Node);
        _order.AddLast(entry.Node);
    }
}
