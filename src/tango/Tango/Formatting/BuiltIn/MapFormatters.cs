using System.Collections.Immutable;

namespace Tango.Formatting;

/// <summary>In the order of the keys' bytes; read with the default comparer.</summary>
public sealed class CanonicalDictionaryFormatter<TKey, TValue> : MapFormatter<Dictionary<TKey, TValue>, TKey, TValue>
    where TKey : notnull
{
    private protected override bool IsUnordered => true;

    private protected override Dictionary<TKey, TValue> Build(List<KeyValuePair<TKey, TValue>> pairs) => new(pairs);
}

/// <summary>In its own order; read with <see cref="TangoOrder{T}"/>.</summary>
public sealed class OrdinalSortedDictionaryFormatter<TKey, TValue>
    : MapFormatter<SortedDictionary<TKey, TValue>, TKey, TValue>
    where TKey : notnull
{
    private protected override bool IsUnordered => false;

    private protected override SortedDictionary<TKey, TValue> Build(List<KeyValuePair<TKey, TValue>> pairs)
    {
        var map = new SortedDictionary<TKey, TValue>(TangoOrder<TKey>.Comparer);
        foreach (var (key, value) in pairs) map.Add(key, value);
        return map;
    }
}

/// <summary>In the order of the keys' bytes; read with the default comparer.</summary>
public sealed class CanonicalImmutableDictionaryFormatter<TKey, TValue>
    : MapFormatter<ImmutableDictionary<TKey, TValue>, TKey, TValue>
    where TKey : notnull
{
    private protected override bool IsUnordered => true;

    private protected override ImmutableDictionary<TKey, TValue> Build(List<KeyValuePair<TKey, TValue>> pairs) =>
        ImmutableDictionary.CreateRange(pairs);
}

/// <summary>In its own order; read with <see cref="TangoOrder{T}"/>.</summary>
public sealed class OrdinalImmutableSortedDictionaryFormatter<TKey, TValue>
    : MapFormatter<ImmutableSortedDictionary<TKey, TValue>, TKey, TValue>
    where TKey : notnull
{
    private protected override bool IsUnordered => false;

    private protected override ImmutableSortedDictionary<TKey, TValue> Build(
        List<KeyValuePair<TKey, TValue>> pairs) =>
        ImmutableSortedDictionary.CreateRange(TangoOrder<TKey>.Comparer, pairs);
}
