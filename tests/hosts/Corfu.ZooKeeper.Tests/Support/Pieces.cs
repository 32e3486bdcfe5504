using System.Buffers;

namespace Corfu.ZooKeeper.Tests.Support;

/// <summary>Bytes in small segments, as a socket may give them.</summary>
internal sealed class Pieces : ReadOnlySequenceSegment<byte>
{
    private Pieces(ReadOnlyMemory<byte> memory, long index) => (Memory, RunningIndex) = (memory, index);

    public static ReadOnlySequence<byte> Of(ReadOnlySpan<byte> bytes, int size)
    {
        var all = bytes.ToArray();
        var first = new Pieces(all.AsMemory(0, Math.Min(size, all.Length)), 0);
        var last = first;
        for (var at = size; at < all.Length; at += size)
        {
            var next = new Pieces(all.AsMemory(at, Math.Min(size, all.Length - at)), at);
            last.Next = next;
            last = next;
        }

        return new ReadOnlySequence<byte>(first, 0, last, last.Memory.Length);
    }
}
