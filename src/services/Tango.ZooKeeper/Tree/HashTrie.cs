using System.Numerics;
using System.Runtime.CompilerServices;

namespace Tango.ZooKeeper;

/// <summary>
/// Persistent map of items that hold their keys: a 32-way trie over the keys' hashes. A change copies the nodes on one
/// path, four in a map of a million. Canonical: maps of equal items and seeds have equal structure, whatever their
/// history, so that replicas enumerate alike.
/// </summary>
/// <remarks>
/// Invariant: an item stands in the highest node in which its prefix of the hash is its own. Below the last bits of a
/// hash stands a bucket, sorted by key.
/// </remarks>
internal sealed class HashTrie<TKey, TItem, TKeys>
    where TItem : class
    where TKeys : struct, ITrieKeys<TKey, TItem>
{
    private const int LevelBits = 5;
    private const int HashBits = 64;
    private const int Width = 1 << LevelBits;

    private static readonly Node s_none = new(0, 0, []);

    private readonly ulong _seed;

    /// <param name="seed">Clients must not know it: else they choose keys of one hash.</param>
    public HashTrie(ulong seed)
        : this(s_none, 0, seed)
    {
    }

    private HashTrie(Node top, int count, ulong seed) => (Top, Count, _seed) = (top, count, seed);

    public int Count { get; }

    internal Node Top { get; }

    /// <summary>A map of the items, built from below: no path is copied.</summary>
    /// <exception cref="ArgumentException">Two items have one key.</exception>
    public static HashTrie<TKey, TItem, TKeys> From(IReadOnlyCollection<TItem> items, ulong seed)
    {
        var entries = new Entry[items.Count];
        var next = 0;
        foreach (var item in items) entries[next++] = new Entry(TKeys.Hash(TKeys.KeyOf(item), seed), item);
        var top = entries.Length == 0 ? s_none : Build(entries, new Entry[entries.Length], 0);
        return new HashTrie<TKey, TItem, TKeys>(top, entries.Length, seed);
    }

    public TItem? Find(TKey key)
    {
        var hash = TKeys.Hash(key, _seed);
        var node = Top;
        for (var shift = 0; shift < HashBits; shift += LevelBits)
        {
            var bit = BitOf(hash, shift);
            if ((node.Items & bit) != 0)
            {
                var item = node.ItemAt(node.IndexOfItem(bit));
                return TKeys.IsKeyOf(item, key) ? item : null;
            }

            if ((node.Nodes & bit) == 0) return null;
            node = node.NodeAt(node.IndexOfNode(bit));
        }

        foreach (var slot in node.Slots)
        {
            if (TKeys.IsKeyOf((TItem)slot, key)) return (TItem)slot;
        }

        return null;
    }

    public bool Contains(TKey key) => Find(key) is not null;

    /// <summary>Adds the item, or replaces the item of its key.</summary>
    public HashTrie<TKey, TItem, TKeys> Set(TItem item)
    {
        var key = TKeys.KeyOf(item);
        var isNew = false;
        var top = Set(Top, TKeys.Hash(key, _seed), 0, key, item, ref isNew);
        return new HashTrie<TKey, TItem, TKeys>(top, isNew ? Count + 1 : Count, _seed);
    }

    /// <summary>The same map if it has no such key.</summary>
    public HashTrie<TKey, TItem, TKeys> Remove(TKey key)
    {
        var top = Remove(Top, TKeys.Hash(key, _seed), 0, key);
        if (ReferenceEquals(top, Top)) return this;
        return new HashTrie<TKey, TItem, TKeys>(top, Count - 1, _seed);
    }

    /// <summary>The items, equal maps in equal order.</summary>
    public IEnumerable<TItem> Items()
    {
        var open = new Stack<Node>([Top]);
        while (open.TryPop(out var node))
        {
            var items = node.ItemCount;
            for (var i = 0; i < items; i++) yield return node.ItemAt(i);
            for (var i = node.Slots.Length - 1; i >= items; i--) open.Push(node.NodeAt(i));
        }
    }

    private static uint BitOf(ulong hash, int shift) => 1u << ((int)(hash >> shift) & (Width - 1));

    private Node Set(Node node, ulong hash, int shift, TKey key, TItem item, ref bool isNew)
    {
        if (shift >= HashBits) return SetInBucket(node, key, item, ref isNew);
        var bit = BitOf(hash, shift);
        if ((node.Items & bit) != 0)
        {
            var index = node.IndexOfItem(bit);
            var there = node.ItemAt(index);
            if (TKeys.IsKeyOf(there, key)) return node.WithSlot(index, item);
            isNew = true;
            var other = TKeys.Hash(TKeys.KeyOf(there), _seed);
            return node.WithNodeForItem(bit, Pair(there, other, item, hash, shift + LevelBits));
        }

        if ((node.Nodes & bit) != 0)
        {
            var index = node.IndexOfNode(bit);
            var child = Set(node.NodeAt(index), hash, shift + LevelBits, key, item, ref isNew);
            return node.WithSlot(index, child);
        }

        isNew = true;
        return node.WithItem(bit, item);
    }

    // The node, or chain of nodes, that tells two items apart.
    private static Node Pair(TItem first, ulong firstHash, TItem second, ulong secondHash, int shift)
    {
        if (shift >= HashBits)
            return TKeys.Compare(first, second) < 0 ? new Node(0, 0, [first, second]) : new Node(0, 0, [second, first]);
        var firstBit = BitOf(firstHash, shift);
        var secondBit = BitOf(secondHash, shift);
        if (firstBit == secondBit)
            return new Node(0, firstBit, [Pair(first, firstHash, second, secondHash, shift + LevelBits)]);
        return new Node(firstBit | secondBit, 0, firstBit < secondBit ? [first, second] : [second, first]);
    }

    private static Node SetInBucket(Node bucket, TKey key, TItem item, ref bool isNew)
    {
        var index = 0;
        for (; index < bucket.Slots.Length; index++)
        {
            var there = bucket.ItemAt(index);
            if (TKeys.IsKeyOf(there, key)) return bucket.WithSlot(index, item);
            if (TKeys.Compare(item, there) < 0) break;
        }

        isNew = true;
        object[] slots = [.. bucket.Slots.AsSpan(0, index), item, .. bucket.Slots.AsSpan(index)];
        return new Node(0, 0, slots);
    }

    private static Node Remove(Node node, ulong hash, int shift, TKey key)
    {
        if (shift >= HashBits)
        {
            var found = Array.FindIndex(node.Slots, slot => TKeys.IsKeyOf((TItem)slot, key));
            return found < 0 ? node : new Node(0, 0, Node.Without(node.Slots, found));
        }

        var bit = BitOf(hash, shift);
        if ((node.Items & bit) != 0)
        {
            var index = node.IndexOfItem(bit);
            if (!TKeys.IsKeyOf(node.ItemAt(index), key)) return node;
            return new Node(node.Items ^ bit, node.Nodes, Node.Without(node.Slots, index));
        }

        if ((node.Nodes & bit) == 0) return node;
        var at = node.IndexOfNode(bit);
        var before = node.NodeAt(at);
        var child = Remove(before, hash, shift + LevelBits, key);
        if (ReferenceEquals(child, before)) return node;
        // An item alone moves up: its prefix is its own again.
        return child.IsOneItem ? node.WithItemForNode(bit, child.ItemAt(0)) : node.WithSlot(at, child);
    }

    /// <param name="entries">At least one; the order is lost.</param>
    /// <param name="scratch">As long.</param>
    private static Node Build(Span<Entry> entries, Span<Entry> scratch, int shift)
    {
        if (shift >= HashBits) return Bucket(entries);
        // Counting sort by this level's bits: ends[i] is where the entries of digit i end.
        Span<int> ends = stackalloc int[Width];
        ends.Clear();
        foreach (ref readonly var entry in entries) ends[(int)(entry.Hash >> shift) & (Width - 1)]++;
        var (items, nodes) = (0u, 0u);
        for (var digit = 0; digit < Width; digit++)
        {
            if (ends[digit] == 1) items |= 1u << digit;
            else if (ends[digit] > 1) nodes |= 1u << digit;
            if (digit > 0) ends[digit] += ends[digit - 1];
        }

        for (var i = entries.Length - 1; i >= 0; i--)
            scratch[--ends[(int)(entries[i].Hash >> shift) & (Width - 1)]] = entries[i];

        // By now ends[i] is where the entries of digit i begin.
        var slots = new object[BitOperations.PopCount(items) + BitOperations.PopCount(nodes)];
        var (item, node) = (0, BitOperations.PopCount(items));
        for (var digit = 0; digit < Width; digit++)
        {
            var (start, end) = (ends[digit], digit + 1 < Width ? ends[digit + 1] : entries.Length);
            if (end - start == 1) slots[item++] = scratch[start].Item;
            else if (end > start)
                slots[node++] = Build(scratch[start..end], entries[start..end], shift + LevelBits);
        }

        return new Node(items, nodes, slots);
    }

    private static Node Bucket(Span<Entry> entries)
    {
        var slots = new TItem[entries.Length];
        for (var i = 0; i < slots.Length; i++) slots[i] = entries[i].Item;
        Array.Sort(slots, TKeys.Compare);
        for (var i = 1; i < slots.Length; i++)
        {
            if (TKeys.Compare(slots[i - 1], slots[i]) == 0) throw new ArgumentException("Two items have one key");
        }

        return new Node(0, 0, [.. slots]);
    }

    private readonly record struct Entry(ulong Hash, TItem Item);

    /// <param name="items">The digits whose slot is an item. In a bucket none, though all slots are items.</param>
    /// <param name="nodes">The digits whose slot is a node.</param>
    /// <param name="slots">The items, then the nodes, each in the order of their digits. Never changed.</param>
    internal sealed class Node(uint items, uint nodes, object[] slots)
    {
        public uint Items => items;

        public uint Nodes => nodes;

        public object[] Slots => slots;

        public int ItemCount => slots.Length - BitOperations.PopCount(nodes);

        public bool IsOneItem => slots.Length == 1 && nodes == 0;

        // The two bit maps say what a slot is: a cast in shared generic code costs as much as the rest of a step.
        public TItem ItemAt(int index) => Unsafe.As<TItem>(slots[index]);

        public Node NodeAt(int index) => Unsafe.As<Node>(slots[index]);

        public int IndexOfItem(uint bit) => BitOperations.PopCount(items & (bit - 1));

        public int IndexOfNode(uint bit) =>
            BitOperations.PopCount(items) + BitOperations.PopCount(nodes & (bit - 1));

        public Node WithSlot(int index, object slot)
        {
            var copy = (object[])slots.Clone();
            copy[index] = slot;
            return new Node(items, nodes, copy);
        }

        public Node WithItem(uint bit, TItem item)
        {
            var index = IndexOfItem(bit);
            var copy = new object[slots.Length + 1];
            Array.Copy(slots, copy, index);
            copy[index] = item;
            Array.Copy(slots, index, copy, index + 1, slots.Length - index);
            return new Node(items | bit, nodes, copy);
        }

        public Node WithNodeForItem(uint bit, Node node)
        {
            var (from, to) = (IndexOfItem(bit), IndexOfNode(bit) - 1);
            return new Node(items ^ bit, nodes | bit, Moved(from, to, node));
        }

        public Node WithItemForNode(uint bit, TItem item)
        {
            var (from, to) = (IndexOfNode(bit), IndexOfItem(bit));
            return new Node(items | bit, nodes ^ bit, Moved(from, to, item));
        }

        public static object[] Without(object[] slots, int index)
        {
            var copy = new object[slots.Length - 1];
            Array.Copy(slots, copy, index);
            Array.Copy(slots, index + 1, copy, index, copy.Length - index);
            return copy;
        }

        // The slots without the one at an index, and another one inserted at an index of the result.
        private object[] Moved(int from, int to, object slot)
        {
            var copy = (object[])slots.Clone();
            if (from < to) Array.Copy(slots, from + 1, copy, from, to - from);
            else Array.Copy(slots, to, copy, to + 1, from - to);
            copy[to] = slot;
            return copy;
        }
    }
}
