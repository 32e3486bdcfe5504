using System.Collections.Immutable;

namespace Tango.Formatting;

/// <summary>Sets that enumerate in hash order, which differs between processes: written in the order of the elements'
/// bytes.</summary>
internal abstract class UnorderedSetFormatter<TCollection, T> : SequenceFormatter<TCollection, T>
    where TCollection : IReadOnlyCollection<T>
{
    protected sealed override int Count(TCollection value) => value.Count;

    protected sealed override IEnumerable<T> Elements(TCollection value) => value;

    protected sealed override void WriteElements(ref MessagePackWriter writer, TCollection value)
    {
        var order = new EncodedOrder(value.Count);
        foreach (T item in value)
        {
            MessagePackWriter scratch = order.Writer();
            Element.Write(ref scratch, item);
            order.Add(ref scratch);
        }
        writer.WriteArrayHeader(value.Count);
        foreach (int i in order.Sort()) writer.WriteRaw(order[i]);
    }
}

internal sealed class HashSetFormatter<T> : UnorderedSetFormatter<HashSet<T>, T>
{
    protected override HashSet<T> Build(T[] items, ref MessagePackReader reader)
    {
        var set = new HashSet<T>(items);
        CheckDistinct(set.Count, items, ref reader);
        return set;
    }
}

internal sealed class ImmutableHashSetFormatter<T> : UnorderedSetFormatter<ImmutableHashSet<T>, T>
{
    protected override ImmutableHashSet<T> Build(T[] items, ref MessagePackReader reader)
    {
        var set = ImmutableHashSet.Create(items);
        CheckDistinct(set.Count, items, ref reader);
        return set;
    }
}

internal sealed class SortedSetFormatter<T> : SequenceFormatter<SortedSet<T>, T>
{
    protected override int Count(SortedSet<T> value) => value.Count;

    protected override IEnumerable<T> Elements(SortedSet<T> value) => value;

    protected override SortedSet<T> Build(T[] items, ref MessagePackReader reader)
    {
        var set = new SortedSet<T>(items, TangoOrder<T>.Comparer);
        CheckDistinct(set.Count, items, ref reader);
        return set;
    }
}

internal sealed class ImmutableSortedSetFormatter<T> : SequenceFormatter<ImmutableSortedSet<T>, T>
{
    protected override int Count(ImmutableSortedSet<T> value) => value.Count;

    protected override IEnumerable<T> Elements(ImmutableSortedSet<T> value) => value;

    protected override ImmutableSortedSet<T> Build(T[] items, ref MessagePackReader reader)
    {
        var set = ImmutableSortedSet.Create(TangoOrder<T>.Comparer, items);
        CheckDistinct(set.Count, items, ref reader);
        return set;
    }
}
