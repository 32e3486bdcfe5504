namespace Tango.ZooKeeper;

/// <summary>The keys of the items of a <see cref="HashTrie{TKey, TItem, TKeys}"/>.</summary>
internal interface ITrieKeys<TKey, TItem>
{
    static abstract TKey KeyOf(TItem item);

    static abstract ulong Hash(TKey key, ulong seed);

    static abstract bool IsKeyOf(TItem item, TKey key);

    /// <summary>Order of items whose keys have one hash.</summary>
    static abstract int Compare(TItem left, TItem right);
}
