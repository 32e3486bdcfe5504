using System.Collections.Immutable;
using MessagePack.Formatters;

namespace Tango.Formatting;

/// <summary>Sets written as an array. The derived classes say in which order and how to build.</summary>
public abstract class SetFormatter<TCollection, T> : IMessagePackFormatter<TCollection?>
    where TCollection : class, IReadOnlyCollection<T>
{
    private const int FirstCapacity = 256;

    private protected SetFormatter()
    {
    }

    /// <summary>True if the set enumerates in hash order, which differs between processes: then elements are written in
    /// the order of their bytes.</summary>
    private protected abstract bool IsUnordered { get; }

    public void Serialize(ref MessagePackWriter writer, TCollection? value, MessagePackSerializerOptions options)
    {
        if (value is null)
        {
            writer.WriteNil();
            return;
        }

        writer.WriteArrayHeader(value.Count);
        var elements = options.Resolver.GetFormatterWithVerify<T>();
        if (!IsUnordered)
        {
            foreach (T item in value) elements.Serialize(ref writer, item, options);
            return;
        }

        var order = new EncodedOrder(value.Count);
        foreach (T item in value)
        {
            var scratch = order.Writer();
            elements.Serialize(ref scratch, item, options);
            order.Add(ref scratch);
        }

        foreach (int i in order.Sort()) writer.WriteRaw(order[i]);
    }

    public TCollection? Deserialize(ref MessagePackReader reader, MessagePackSerializerOptions options)
    {
        if (reader.TryReadNil()) return null;
        int count = reader.ReadCount();
        options.Security.DepthStep(ref reader);
        var elements = options.Resolver.GetFormatterWithVerify<T>();
        // Grown as elements really arrive, not as the header claims.
        var items = new List<T>(Math.Min(count, FirstCapacity));
        for (int i = 0; i < count; i++) items.Add(elements.Deserialize(ref reader, options));
        reader.Depth--;
        var set = Build(items);
        // No set can have written an element twice.
        if (set.Count != count)
            throw new TangoFormatException(FormatError.Invalid, "An element of a set comes twice", reader.Consumed);
        return set;
    }

    private protected abstract TCollection Build(List<T> items);
}

/// <summary>In the order of the elements' bytes; read with the default comparer.</summary>
public sealed class CanonicalHashSetFormatter<T> : SetFormatter<HashSet<T>, T>
{
    private protected override bool IsUnordered => true;

    private protected override HashSet<T> Build(List<T> items) => [.. items];
}

/// <summary>In the order of the elements' bytes; read with the default comparer.</summary>
public sealed class CanonicalImmutableHashSetFormatter<T> : SetFormatter<ImmutableHashSet<T>, T>
{
    private protected override bool IsUnordered => true;

    private protected override ImmutableHashSet<T> Build(List<T> items) => [.. items];
}

/// <summary>In its own order; read with <see cref="TangoOrder{T}"/>.</summary>
public sealed class OrdinalSortedSetFormatter<T> : SetFormatter<SortedSet<T>, T>
{
    private protected override bool IsUnordered => false;

    private protected override SortedSet<T> Build(List<T> items) => new(items, TangoOrder<T>.Comparer);
}

/// <summary>In its own order; read with <see cref="TangoOrder{T}"/>.</summary>
public sealed class OrdinalImmutableSortedSetFormatter<T> : SetFormatter<ImmutableSortedSet<T>, T>
{
    private protected override bool IsUnordered => false;

    private protected override ImmutableSortedSet<T> Build(List<T> items) =>
        ImmutableSortedSet.CreateRange(TangoOrder<T>.Comparer, items);
}
