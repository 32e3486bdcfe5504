using System.Runtime.InteropServices;

namespace Tango.Formatting;

/// <summary>Collections written as an array of their elements. The derived classes say how to count, enumerate and
/// build.</summary>
internal abstract class SequenceFormatter<TCollection, T> : ITangoFormatter<TCollection>
{
    private const int FirstCapacity = 256;

    protected ITangoFormatter<T> Element { get; private set; } = null!;

    public void Resolve() => Element = TangoFormatters.Get<T>();

    public void Write(ref MessagePackWriter writer, TCollection value)
    {
        if (IsNull(value))
        {
            writer.WriteNil();
            return;
        }
        writer.Enter();
        WriteElements(ref writer, value);
        writer.Leave();
    }

    public TCollection Read(ref MessagePackReader reader)
    {
        if (reader.TryReadNil()) return default!;
        int count = reader.ReadArrayHeader();
        reader.Enter();
        // Grown as elements really arrive, not as the header claims.
        var items = new T[Math.Min(count, FirstCapacity)];
        for (int i = 0; i < count; i++)
        {
            if (i == items.Length) Array.Resize(ref items, (int)Math.Min(count, items.Length * 2L));
            items[i] = Element.Read(ref reader);
        }
        reader.Leave();
        return Build(items, ref reader);
    }

    protected virtual bool IsNull(TCollection value) => value is null;

    protected abstract int Count(TCollection value);

    protected abstract IEnumerable<T> Elements(TCollection value);

    /// <summary><paramref name="items"/> is exactly as long as needed and belongs to the callee.</summary>
    protected abstract TCollection Build(T[] items, ref MessagePackReader reader);

    protected virtual void WriteElements(ref MessagePackWriter writer, TCollection value)
    {
        writer.WriteArrayHeader(Count(value));
        foreach (T item in Elements(value)) Element.Write(ref writer, item);
    }

    protected void WriteSpan(ref MessagePackWriter writer, ReadOnlySpan<T> items)
    {
        writer.WriteArrayHeader(items.Length);
        foreach (T item in items) Element.Write(ref writer, item);
    }

    /// <summary>For sets: refuses input in which an element comes twice, which no set can have written.</summary>
    protected static void CheckDistinct(int distinct, T[] items, ref MessagePackReader reader)
    {
        if (distinct != items.Length) throw reader.Error(FormatError.Invalid, "An element of a set comes twice");
    }
}
