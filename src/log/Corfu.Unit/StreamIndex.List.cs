using System.Buffers;

namespace Corfu.Unit;

// Positions that no page states any more, for a unit that joins this one's chains.
internal sealed partial class StreamIndex
{
    /// <summary>Streams in one record of an imported list, so that it fits into the smallest log page.</summary>
    private const int StreamsPerRecord = 64;

    /// <summary>The next streams that may have positions below, and those. A frozen list that is full is given whole:
    /// newer positions have displaced older ones, perhaps by half-written entries that will be gone with this unit.
    /// <paramref name="next"/> is at the count when all is done.</summary>
    public ImmutableArray<StreamTail> List(LogPosition below, ref int next)
    {
        var tails = ImmutableArray.CreateBuilder<StreamTail>();
        var positions = new List<LogPosition>(2 * K);
        for (var until = Math.Min(Count, next + StreamsPerStep); next < until; next++)
        {
            ref var tops = ref At(next);
            positions.Clear();
            foreach (var top in tops.Live.Span)
            {
                if (top.Position < below.Offset) positions.Add(new LogPosition(top.Position));
            }

            foreach (var top in tops.Frozen.Span)
            {
                if (tops.Frozen.Count == K || top.Position < below.Offset) positions.Add(new LogPosition(top.Position));
            }

            if (positions.Count > 0) tails.Add(new StreamTail(tops.Stream, [.. positions.Take(K)]));
        }

        return tails.DrainToImmutable();
    }

    /// <summary>The next streams of a list with positions that are unknown here, as <see cref="Replay"/> reads them.
    /// Empty: none in this step.</summary>
    public ReadOnlyMemory<byte> WriteUnknown(ImmutableArray<StreamTail> tails, ref int next)
    {
        var body = new ArrayBufferWriter<byte>();
        var w = new WireWriter(body);
        w.Int32(0);
        var streams = 0;
        for (var until = Math.Min(tails.Length, next + StreamsPerRecord); next < until; next++)
        {
            var tail = tails[next];
            var unknown = tail.Positions.Where(p => !Knows(tail.Stream, p)).ToList();
            if (unknown.Count == 0) continue;
            streams++;
            w.Stream(tail.Stream);
            w.Byte((byte)unknown.Count);
            foreach (var position in unknown) w.Position(position);
        }

        w.Flush();
        return WithCount(body, streams);
    }

    // Also where K newer positions displace it.
    private bool Knows(StreamId stream, LogPosition position)
    {
        if (!_numbers.TryGetValue(stream, out var number)) return false;
        ref var tops = ref At(number);
        var newest = position.Offset < _start ? tops.Frozen.Span : tops.Live.Span;
        foreach (var top in newest)
        {
            if (top.Position == position.Offset) return true;
        }

        return newest.Length == K && newest[^1].Position > position.Offset;
    }
}
