namespace Corfu.Store;

/// <summary>Keys from one on, up to another one that is not among them.</summary>
/// <param name="From">The first key.</param>
/// <param name="To">The first key behind the range; null: the range has no end.</param>
public readonly record struct StoreRange(StoreKey From, StoreKey? To)
{
    public static StoreRange All => default;

    /// <summary>A single key.</summary>
    public static StoreRange Of(StoreKey key) => new(key, key.Next());

    /// <summary>The keys that begin with these bytes.</summary>
    public static StoreRange Prefix(StoreKey prefix) => new(prefix, prefix.AfterPrefix());

    /// <summary>A single key.</summary>
    public static implicit operator StoreRange(StoreKey key) => Of(key);

    /// <summary>A single key.</summary>
    public static implicit operator StoreRange(string key) => Of(key);

    internal bool IsOfOneKey =>
        To is { } to && to.Length == From.Length + 1 && to.Bytes[^1] == 0 && to.Bytes.StartsWith(From.Bytes);

    public bool Contains(StoreKey key) => key >= From && (To is not { } to || key < to);
}
