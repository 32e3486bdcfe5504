using System.Buffers;
using System.Collections.Immutable;
using Corfu.Protocol;

namespace Corfu.Unit;

// What one unit tells another that joins its chains: positions that no page tells any more.
internal sealed partial class StreamIndex
{
    /// <summary>Streams in one record of what is taken over, so that the smallest log page takes it.</summary>
    private const int StreamsPerRecord = 64;

    /// <summary>
    /// The next streams that may have positions below, and those. A final list that is full is given whole: what is
    /// older has been pushed out of it, perhaps by half-written entries that will be gone with this unit.
    /// <paramref name="next"/> is at the count when all is done.
    /// </summary>
    public ImmutableArray<StreamTail> List(LogPosition below, ref int next)
    {
        var tails = ImmutableArray.CreateBuilder<StreamTail>();
        for (var until = Math.Min(Count, next + StreamsPerStep); next < until; next++)
        {
            ref var tops = ref At(next);
            var positions = ImmutableArray.CreateBuilder<LogPosition>(K);
            for (var i = 0; i < tops.LiveCount; i++)
            {
                if (tops.Live[i].Position < below.Offset) positions.Add(new LogPosition(tops.Live[i].Position));
            }

            for (var i = 0; i < tops.FrozenCount && positions.Count < K; i++)
            {
                if (tops.FrozenCount == K || tops.Frozen[i].Position < below.Offset)
                    positions.Add(new LogPosition(tops.Frozen[i].Position));
            }

            if (positions.Count > 0) tails.Add(new StreamTail(tops.Stream, positions.DrainToImmutable()));
        }

        return tails.DrainToImmutable();
    }

    /// <summary>The next streams of a list that tell something new, as <see cref="Replay"/> reads it. Empty: nothing
    /// new in this step.</summary>
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
        if (streams == 0) return default;
        var bytes = body.WrittenSpan.ToArray();
        System.Buffers.Binary.BinaryPrimitives.WriteInt32LittleEndian(bytes, streams);
        return bytes;
    }

    // Or as many newer ones that it does not matter.
    private bool Knows(StreamId stream, LogPosition position)
    {
        if (!_numbers.TryGetValue(stream, out var number)) return false;
        ref var tops = ref At(number);
        return position.Offset < _start
            ? Knows(tops.Frozen, tops.FrozenCount, position.Offset)
            : Knows(tops.Live, tops.LiveCount, position.Offset);
    }

    private static bool Knows(in Newest newest, int count, long position)
    {
        for (var i = 0; i < count; i++)
        {
            if (newest[i].Position == position) return true;
        }

        return count == K && newest[K - 1].Position > position;
    }
}
