using MessagePack.Formatters;

namespace Tango.Formatting;

/// <summary>Dictionaries written as a map. The derived classes say in which order and how to build.</summary>
public abstract class MapFormatter<TCollection, TKey, TValue> : IMessagePackFormatter<TCollection?>
    where TCollection : class, IReadOnlyCollection<KeyValuePair<TKey, TValue>>
    where TKey : notnull
{
    private const int FirstCapacity = 256;

    private protected MapFormatter()
    {
    }

    /// <summary>True if the collection enumerates in hash order, which differs between processes: then keys are written
    /// in the order of their bytes.</summary>
    private protected abstract bool IsUnordered { get; }

    public void Serialize(ref MessagePackWriter writer, TCollection? value, MessagePackSerializerOptions options)
    {
        if (value is null)
        {
            writer.WriteNil();
            return;
        }

        writer.WriteMapHeader(value.Count);
        if (IsUnordered && value.Count > 1)
        {
            WriteSorted(ref writer, value, options);
            return;
        }

        var keys = options.Resolver.GetFormatterWithVerify<TKey>();
        var values = options.Resolver.GetFormatterWithVerify<TValue>();
        foreach (var (key, item) in value)
        {
            keys.Serialize(ref writer, key, options);
            values.Serialize(ref writer, item, options);
        }
    }

    public TCollection? Deserialize(ref MessagePackReader reader, MessagePackSerializerOptions options)
    {
        if (reader.TryReadNil()) return null;
        int count = reader.ReadMapCount();
        options.Security.DepthStep(ref reader);
        var keys = options.Resolver.GetFormatterWithVerify<TKey>();
        var values = options.Resolver.GetFormatterWithVerify<TValue>();
        var pairs = new List<KeyValuePair<TKey, TValue>>(Math.Min(count, FirstCapacity));
        for (int i = 0; i < count; i++)
        {
            TKey key = keys.Deserialize(ref reader, options);
            if (key is null) throw Invalid("The key of a map is nil", ref reader, null);
            pairs.Add(new KeyValuePair<TKey, TValue>(key, values.Deserialize(ref reader, options)));
        }

        reader.Depth--;
        TCollection built;
        try
        {
            built = Build(pairs);
        }
        catch (ArgumentException e)
        {
            throw Invalid("A key of a map comes twice", ref reader, e);
        }

        // The immutable builders let an identical pair pass.
        if (built.Count != count) throw Invalid("A key of a map comes twice", ref reader, null);
        return built;
    }

    private protected abstract TCollection Build(List<KeyValuePair<TKey, TValue>> pairs);

    private static TangoFormatException Invalid(string message, ref MessagePackReader reader, Exception? inner) =>
        new(FormatError.Invalid, message, reader.Consumed, inner);

    private static void WriteSorted(ref MessagePackWriter writer, TCollection value,
        MessagePackSerializerOptions options)
    {
        var keys = options.Resolver.GetFormatterWithVerify<TKey>();
        var items = options.Resolver.GetFormatterWithVerify<TValue>();
        var order = new EncodedOrder(value.Count);
        var values = new TValue[value.Count];
        int filled = 0;
        foreach (var (key, item) in value)
        {
            var scratch = order.Writer();
            keys.Serialize(ref scratch, key, options);
            order.Add(ref scratch);
            values[filled++] = item;
        }

        foreach (int i in order.Sort())
        {
            writer.WriteRaw(order[i]);
            items.Serialize(ref writer, values[i], options);
        }
    }
}
