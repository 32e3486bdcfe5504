using System.Collections.Immutable;

namespace Tango.Formatting;

internal sealed class DictionaryFormatter<TKey, TValue> : MapFormatter<Dictionary<TKey, TValue>, TKey, TValue>
    where TKey : notnull
{
    protected override bool IsUnordered => true;

    protected override Dictionary<TKey, TValue> Build(List<KeyValuePair<TKey, TValue>> pairs) => new(pairs);
}

internal sealed class SortedDictionaryFormatter<TKey, TValue>
    : MapFormatter<SortedDictionary<TKey, TValue>, TKey, TValue>
    where TKey : notnull
{
    protected override bool IsUnordered => false;

    protected override SortedDictionary<TKey, TValue> Build(List<KeyValuePair<TKey, TValue>> pairs)
    {
        var map = new SortedDictionary<TKey, TValue>(TangoOrder<TKey>.Comparer);
        foreach (KeyValuePair<TKey, TValue> pair in pairs) map.Add(pair.Key, pair.Value);
        return map;
    }
}

internal sealed class ImmutableDictionaryFormatter<TKey, TValue>
    : MapFormatter<ImmutableDictionary<TKey, TValue>, TKey, TValue>
    where TKey : notnull
{
    protected override bool IsUnordered => true;

    protected override ImmutableDictionary<TKey, TValue> Build(List<KeyValuePair<TKey, TValue>> pairs) =>
        ImmutableDictionary.CreateRange(pairs);
}

internal sealed class ImmutableSortedDictionaryFormatter<TKey, TValue>
    : MapFormatter<ImmutableSortedDictionary<TKey, TValue>, TKey, TValue>
    where TKey : notnull
{
    protected override bool IsUnordered => false;

    protected override ImmutableSortedDictionary<TKey, TValue> Build(List<KeyValuePair<TKey, TValue>> pairs) =>
        ImmutableSortedDictionary.CreateRange(TangoOrder<TKey>.Comparer, pairs);
}

internal sealed class KeyValuePairFormatter<TKey, TValue> : ITangoFormatter<KeyValuePair<TKey, TValue>>
{
    private ITangoFormatter<TKey> _key = null!;
    private ITangoFormatter<TValue> _value = null!;

    public bool IsVersionKey => _key.IsVersionKey && _value.IsVersionKey;

    public void Resolve()
    {
        _key = TangoFormatters.Get<TKey>();
        _value = TangoFormatters.Get<TValue>();
    }

    public void Write(ref MessagePackWriter writer, KeyValuePair<TKey, TValue> value)
    {
        writer.Enter();
        writer.WriteArrayHeader(2);
        _key.Write(ref writer, value.Key);
        _value.Write(ref writer, value.Value);
        writer.Leave();
    }

    public KeyValuePair<TKey, TValue> Read(ref MessagePackReader reader)
    {
        reader.ReadArrayHeader(2);
        reader.Enter();
        var pair = new KeyValuePair<TKey, TValue>(_key.Read(ref reader), _value.Read(ref reader));
        reader.Leave();
        return pair;
    }
}
