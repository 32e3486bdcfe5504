using System.Numerics;

namespace Corfu.Sequencer;

/// <summary>The newest write of each cell, up to a number of cells; above it the oldest position goes, with all its
/// cells. A cell that is there is written and read without an allocation.</summary>
internal sealed class CellTable
{
    private const int None = -1;
    private const int FirstNodes = 256;

    private struct Node
    {
        public ulong Stream;
        public ulong Cell;

        /// <summary>The newest write's.</summary>
        public long Position;

        // In the list, by position; a free node has only Newer.
        public int Older;
        public int Newer;

        // In the bucket.
        public int Next;
    }

    private readonly int _capacity;
    private readonly Func<ulong> _draw;

    // Invariant: each (stream, cell) written in this epoch at or above _mark has one node, with its newest position
    // (R26). The list of nodes ascends by position.
    private Node[] _nodes = [];
    private int[] _buckets = [];
    private long _mark;

    private int _used;
    private int _free = None;
    private int _oldest = None;
    private int _newest = None;
    private ulong _salt;

    /// <param name="draw">A number that no client knows: chosen cells do not pile up in one bucket.</param>
    public CellTable(int capacity, Func<ulong> draw)
    {
        _capacity = capacity;
        _draw = draw;
    }

    public int Count { get; private set; }

    /// <summary>Writes below it may be forgotten.</summary>
    public long Mark => _mark;

    /// <summary>A new epoch, in which nothing below <paramref name="start"/> is known.</summary>
    public void Clear(long start)
    {
        Array.Fill(_buckets, None);
        (_used, _free, _oldest, _newest, Count) = (0, None, None, None, 0);
        _mark = start;
    }

    /// <returns>Right behind the newest write that is known; 0: none is.</returns>
    public long EndOf(ulong stream, ulong cell)
    {
        if (Count == 0) return 0;
        var node = Find(stream, cell);
        return node == None ? 0 : _nodes[node].Position + 1;
    }

    /// <param name="position">At or above that of every write before.</param>
    public void Write(ulong stream, ulong cell, long position)
    {
        if (_buckets.Length == 0) Open();
        var node = Planted.Is("evicts-the-older-version") ? None : Find(stream, cell);
        if (node == None) node = Add(stream, cell);
        else Leave(node);
        _nodes[node].Position = position;
        Enter(node);
    }

    private void Open()
    {
        // Once for the life of the incarnation: only nodes grow, so that no write waits for all cells to be placed
        // anew.
        _salt = _draw();
        _buckets = new int[BitOperations.RoundUpToPowerOf2((uint)_capacity)];
        Array.Fill(_buckets, None);
    }

    private int Add(ulong stream, ulong cell)
    {
        if (Count == _capacity) EvictOldest();
        var node = _free;
        if (node != None)
        {
            _free = _nodes[node].Newer;
        }
        else
        {
            node = _used++;
            if (node == _nodes.Length)
                Array.Resize(ref _nodes, Math.Min(_capacity, Math.Max(FirstNodes, 2 * _nodes.Length)));
        }

        ref var bucket = ref BucketOf(stream, cell);
        ref var added = ref _nodes[node];
        (added.Stream, added.Cell) = (stream, cell);
        added.Next = Planted.Is("collision-hides-the-older-key") ? None : bucket;
        bucket = node;
        Count++;
        return node;
    }

    // R26: the mark rises before a cell goes, and a position goes as a whole. With one of its cells gone, no tail at or
    // below it can be ruled on.
    private void EvictOldest()
    {
        var position = _nodes[_oldest].Position;
        if (!Planted.Is("mark-stays-at-eviction")) _mark = position + 1;
        while (_oldest != None && _nodes[_oldest].Position == position)
        {
            var node = _oldest;
            Leave(node);
            Unlink(node);
            _nodes[node].Newer = _free;
            _free = node;
            Count--;
        }
    }

    private int Find(ulong stream, ulong cell)
    {
        var node = BucketOf(stream, cell);
        while (node != None && (_nodes[node].Stream != stream || _nodes[node].Cell != cell)) node = _nodes[node].Next;
        return node;
    }

    private void Unlink(int node)
    {
        ref var at = ref BucketOf(_nodes[node].Stream, _nodes[node].Cell);
        if (Planted.Is("evicts-the-older-version") || Planted.Is("collision-hides-the-older-key"))
        {
            // With the cell's newer nodes.
            at = None;
            return;
        }

        while (at != node) at = ref _nodes[at].Next;
        at = _nodes[node].Next;
    }

    private void Enter(int node)
    {
        ref var entered = ref _nodes[node];
        (entered.Older, entered.Newer) = (_newest, None);
        if (_newest != None) _nodes[_newest].Newer = node;
        else _oldest = node;
        _newest = node;
    }

    private void Leave(int node)
    {
        var (older, newer) = (_nodes[node].Older, _nodes[node].Newer);
        if (older != None) _nodes[older].Newer = newer;
        else _oldest = newer;
        if (newer != None) _nodes[newer].Older = older;
        else _newest = older;
    }

    private ref int BucketOf(ulong stream, ulong cell)
    {
        // Both halves of the product depend on all bits of the cell and of the salt.
        var high = Math.BigMul(cell ^ _salt, (stream * 0x9E3779B97F4A7C15) ^ (_salt | 1), out var low);
        return ref _buckets[(int)((high ^ low ^ (low >> 32)) & (ulong)(_buckets.Length - 1))];
    }
}
