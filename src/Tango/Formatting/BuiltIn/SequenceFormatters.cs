using System.Collections.Immutable;
using System.Runtime.InteropServices;

namespace Tango.Formatting;

internal sealed class ArrayFormatter<T> : SequenceFormatter<T[], T>
{
    protected override int Count(T[] value) => value.Length;

    protected override IEnumerable<T> Elements(T[] value) => value;

    protected override T[] Build(T[] items, ref MessagePackReader reader) => items;

    protected override void WriteElements(ref MessagePackWriter writer, T[] value) => WriteSpan(ref writer, value);
}

internal sealed class ListFormatter<T> : SequenceFormatter<List<T>, T>
{
    protected override int Count(List<T> value) => value.Count;

    protected override IEnumerable<T> Elements(List<T> value) => value;

    protected override List<T> Build(T[] items, ref MessagePackReader reader) => [.. items];

    protected override void WriteElements(ref MessagePackWriter writer, List<T> value) =>
        WriteSpan(ref writer, CollectionsMarshal.AsSpan(value));
}

internal sealed class ReadOnlyListFormatter<T> : SequenceFormatter<IReadOnlyList<T>, T>
{
    protected override int Count(IReadOnlyList<T> value) => value.Count;

    protected override IEnumerable<T> Elements(IReadOnlyList<T> value) => value;

    protected override IReadOnlyList<T> Build(T[] items, ref MessagePackReader reader) => items;
}

internal sealed class QueueFormatter<T> : SequenceFormatter<Queue<T>, T>
{
    protected override int Count(Queue<T> value) => value.Count;

    protected override IEnumerable<T> Elements(Queue<T> value) => value;

    protected override Queue<T> Build(T[] items, ref MessagePackReader reader) => new(items);
}

/// <summary>Top first, as a stack enumerates.</summary>
internal sealed class StackFormatter<T> : SequenceFormatter<Stack<T>, T>
{
    protected override int Count(Stack<T> value) => value.Count;

    protected override IEnumerable<T> Elements(Stack<T> value) => value;

    protected override Stack<T> Build(T[] items, ref MessagePackReader reader)
    {
        Array.Reverse(items);
        return new Stack<T>(items);
    }
}

internal sealed class ImmutableArrayFormatter<T> : SequenceFormatter<ImmutableArray<T>, T>
{
    protected override bool IsNull(ImmutableArray<T> value) => value.IsDefault;

    protected override int Count(ImmutableArray<T> value) => value.Length;

    protected override IEnumerable<T> Elements(ImmutableArray<T> value) => value;

    protected override ImmutableArray<T> Build(T[] items, ref MessagePackReader reader) =>
        ImmutableCollectionsMarshal.AsImmutableArray(items);

    protected override void WriteElements(ref MessagePackWriter writer, ImmutableArray<T> value) =>
        WriteSpan(ref writer, value.AsSpan());
}

internal sealed class ImmutableListFormatter<T> : SequenceFormatter<ImmutableList<T>, T>
{
    protected override int Count(ImmutableList<T> value) => value.Count;

    protected override IEnumerable<T> Elements(ImmutableList<T> value) => value;

    protected override ImmutableList<T> Build(T[] items, ref MessagePackReader reader) => ImmutableList.Create(items);
}

internal sealed class ImmutableQueueFormatter<T> : SequenceFormatter<ImmutableQueue<T>, T>
{
    protected override int Count(ImmutableQueue<T> value) => value.Count();

    protected override IEnumerable<T> Elements(ImmutableQueue<T> value) => value;

    protected override ImmutableQueue<T> Build(T[] items, ref MessagePackReader reader) => ImmutableQueue.Create(items);
}

/// <summary>Top first, as a stack enumerates.</summary>
internal sealed class ImmutableStackFormatter<T> : SequenceFormatter<ImmutableStack<T>, T>
{
    protected override int Count(ImmutableStack<T> value) => value.Count();

    protected override IEnumerable<T> Elements(ImmutableStack<T> value) => value;

    protected override ImmutableStack<T> Build(T[] items, ref MessagePackReader reader)
    {
        Array.Reverse(items);
        return ImmutableStack.Create(items);
    }
}
