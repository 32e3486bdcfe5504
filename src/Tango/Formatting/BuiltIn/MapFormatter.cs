namespace Tango.Formatting;

/// <summary>Dictionaries written as a map. The derived classes say in which order and how to build.</summary>
internal abstract class MapFormatter<TCollection, TKey, TValue> : ITangoFormatter<TCollection>
    where TCollection : class, IReadOnlyCollection<KeyValuePair<TKey, TValue>>
    where TKey : notnull
{
    private const int FirstCapacity = 256;
    private ITangoFormatter<TKey> _key = null!;
    private ITangoFormatter<TValue> _value = null!;

    /// <summary>True if the collection enumerates in hash order, which differs between processes: then keys are written
    /// in the order of their bytes.</summary>
    protected abstract bool IsUnordered { get; }

    public void Resolve()
    {
        _key = TangoFormatters.Get<TKey>();
        _value = TangoFormatters.Get<TValue>();
    }

    public void Write(ref MessagePackWriter writer, TCollection value)
    {
        if (value is null)
        {
            writer.WriteNil();
            return;
        }
        writer.Enter();
        writer.WriteMapHeader(value.Count);
        if (IsUnordered && value.Count > 1) WriteSorted(ref writer, value);
        else
        {
            foreach (KeyValuePair<TKey, TValue> pair in value)
            {
                _key.Write(ref writer, pair.Key);
                _value.Write(ref writer, pair.Value);
            }
        }
        writer.Leave();
    }

    public TCollection Read(ref MessagePackReader reader)
    {
        if (reader.TryReadNil()) return null!;
        int count = reader.ReadMapHeader();
        reader.Enter();
        var pairs = new List<KeyValuePair<TKey, TValue>>(Math.Min(count, FirstCapacity));
        for (int i = 0; i < count; i++)
        {
            TKey key = _key.Read(ref reader);
            if (key is null) throw reader.Error(FormatError.Invalid, "The key of a map is nil");
            pairs.Add(new KeyValuePair<TKey, TValue>(key, _value.Read(ref reader)));
        }
        reader.Leave();
        TCollection built;
        try
        {
            built = Build(pairs);
        }
        catch (ArgumentException e)
        {
            throw reader.Error(FormatError.Invalid, "A key of a map comes twice", e);
        }
        // The immutable builders let an identical pair pass.
        if (built.Count != count) throw reader.Error(FormatError.Invalid, "A key of a map comes twice");
        return built;
    }

    protected abstract TCollection Build(List<KeyValuePair<TKey, TValue>> pairs);

    private void WriteSorted(ref MessagePackWriter writer, TCollection value)
    {
        var order = new EncodedOrder(value.Count);
        var values = new TValue[value.Count];
        int filled = 0;
        foreach (KeyValuePair<TKey, TValue> pair in value)
        {
            MessagePackWriter scratch = order.Writer();
            _key.Write(ref scratch, pair.Key);
            order.Add(ref scratch);
            values[filled++] = pair.Value;
        }
        foreach (int i in order.Sort())
        {
            writer.WriteRaw(order[i]);
            _value.Write(ref writer, values[i]);
        }
    }
}
