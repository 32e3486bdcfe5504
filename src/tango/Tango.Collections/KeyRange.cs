namespace Tango.Collections;

/// <summary>Makes ranges of keys for <see cref="TangoSortedDictionary{TKey,TValue}.ScanAsync"/> and
/// <see cref="TangoSortedSet{T}.ScanAsync"/>.</summary>
public static class KeyRange
{
    /// <summary>The keys from <paramref name="key"/> on, itself included.</summary>
    public static KeyRange<T> From<T>(T key)
        where T : notnull => KeyRange<T>.All.From(key);

    /// <summary>The keys above <paramref name="key"/>.</summary>
    public static KeyRange<T> Above<T>(T key)
        where T : notnull => KeyRange<T>.All.Above(key);

    /// <summary>The keys up to <paramref name="key"/>, itself included.</summary>
    public static KeyRange<T> To<T>(T key)
        where T : notnull => KeyRange<T>.All.To(key);

    /// <summary>The keys below <paramref name="key"/>.</summary>
    public static KeyRange<T> Below<T>(T key)
        where T : notnull => KeyRange<T>.All.Below(key);

    /// <summary>The strings that begin with <paramref name="prefix"/>, compared by their UTF-16 code units.</summary>
    public static KeyRange<string> Prefix(string prefix)
    {
        KeyRange<string> range = From(prefix);
        // No string stands between those with the prefix and the prefix with its last code unit raised.
        string kept = prefix.TrimEnd(char.MaxValue);
        return kept.Length == 0 ? range : range.Below(kept[..^1] + (char)(kept[^1] + 1));
    }
}
