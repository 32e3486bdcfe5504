using System.Buffers;

namespace Tango.Formatting;

/// <summary>Encodings collected one after the other in a scratch buffer and then sorted by their bytes.</summary>
internal sealed class EncodedOrder(int count)
{
    private readonly ArrayBufferWriter<byte> _buffer = new();
    private readonly int[] _starts = new int[count + 1];
    private int _added;

    public ReadOnlySpan<byte> this[int index] => _buffer.WrittenSpan[_starts[index].._starts[index + 1]];

    public MessagePackWriter Writer() => new(_buffer);

    public void Add(ref MessagePackWriter writer)
    {
        writer.Flush();
        _starts[++_added] = _buffer.WrittenCount;
    }

    public int[] Sort()
    {
        var order = new int[_added];
        for (int i = 0; i < order.Length; i++) order[i] = i;
        Array.Sort(order, (left, right) => this[left].SequenceCompareTo(this[right]));
        return order;
    }
}
