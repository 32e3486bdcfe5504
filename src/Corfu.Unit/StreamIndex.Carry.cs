using System.Buffers;
using Corfu.Protocol;

namespace Corfu.Unit;

internal sealed partial class StreamIndex
{
    /// <summary>Streams that one call looks at, so that requests need not wait long for it.</summary>
    private const int StreamsPerStep = MessageLimits.MaxItems;

    /// <summary>
    /// Writes down the next streams that have a position recorded in a segment that goes; the position that the caller
    /// appends it at is told to <see cref="Carried"/>. Empty body: nothing found in this step. <paramref name="next"/>
    /// is at the count when all is done.
    /// </summary>
    public ReadOnlyMemory<byte> Carry(IReadOnlySet<int> going, ref int next, int largestBody, List<int> carried)
    {
        carried.Clear();
        var body = new ArrayBufferWriter<byte>(1024);
        var w = new WireWriter(body);
        w.Int32(0);
        var size = 4;
        var until = Math.Min(Count, next + StreamsPerStep);
        for (; next < until && size + LargestStream <= largestBody; next++)
        {
            ref var tops = ref At(next);
            if (!StandsIn(tops.Frozen, tops.FrozenCount, going) && !StandsIn(tops.Live, tops.LiveCount, going))
                continue;
            carried.Add(next);
            w.Stream(tops.Stream);
            w.Byte((byte)(tops.FrozenCount + tops.LiveCount));
            for (var i = 0; i < tops.LiveCount; i++) w.Int64(tops.Live[i].Position);
            for (var i = 0; i < tops.FrozenCount; i++) w.Int64(tops.Frozen[i].Position);
            size += 9 + (8 * (tops.FrozenCount + tops.LiveCount));
        }

        w.Flush();
        if (carried.Count == 0) return default;
        var bytes = body.WrittenSpan.ToArray();
        System.Buffers.Binary.BinaryPrimitives.WriteInt32LittleEndian(bytes, carried.Count);
        return bytes;
    }

    private const int LargestStream = 9 + (2 * K * 8);

    /// <summary>What was written down stands in this segment from now on.</summary>
    public void Carried(List<int> numbers, int segment)
    {
        foreach (var number in numbers)
        {
            ref var tops = ref At(number);
            for (var i = 0; i < tops.FrozenCount; i++) tops.Frozen[i] = tops.Frozen[i] with { Segment = segment };
            for (var i = 0; i < tops.LiveCount; i++) tops.Live[i] = tops.Live[i] with { Segment = segment };
        }
    }

    /// <summary>How many streams would have to be written down again if these segments went; counts a part of them
    /// only, from a number on.</summary>
    public int CountIn(IReadOnlySet<int> going, ref int next)
    {
        var found = 0;
        for (var until = Math.Min(Count, next + StreamsPerStep); next < until; next++)
        {
            ref var tops = ref At(next);
            if (StandsIn(tops.Frozen, tops.FrozenCount, going) || StandsIn(tops.Live, tops.LiveCount, going)) found++;
        }

        return found;
    }

    /// <summary>The other direction: a record of these, met by the replay.</summary>
    public void Replay(ReadOnlyMemory<byte> body, int segment)
    {
        var r = new WireReader(body);
        for (var streams = r.Count(9); streams > 0; streams--)
        {
            var stream = r.Stream();
            for (int positions = r.Byte(); positions > 0; positions--) Add(stream, r.Position(), segment);
        }

        r.End();
    }

    private static bool StandsIn(in Newest newest, int count, IReadOnlySet<int> going)
    {
        for (var i = 0; i < count; i++)
        {
            if (going.Contains(newest[i].Segment)) return true;
        }

        return false;
    }

    /// <summary>For a checkpoint, some streams at a time: each a true byte and its lists; a false byte ends
    /// them.</summary>
    public void Write(IBufferWriter<byte> output, ref int next)
    {
        var w = new WireWriter(output);
        for (var until = Math.Min(Count, next + StreamsPerStep); next < until; next++)
        {
            ref var tops = ref At(next);
            w.Bool(true);
            w.Stream(tops.Stream);
            Write(ref w, tops.Frozen, tops.FrozenCount);
            Write(ref w, tops.Live, tops.LiveCount);
        }

        if (next == Count) w.Bool(false);
        w.Flush();
    }

    public void Read(ref WireReader r)
    {
        while (r.Bool())
        {
            ref var tops = ref Get(r.Stream());
            tops.FrozenCount = Read(ref r, ref tops.Frozen);
            tops.LiveCount = Read(ref r, ref tops.Live);
            tops.FrozenBelow = 0;
        }
    }

    private static void Write(ref WireWriter w, in Newest newest, byte count)
    {
        w.Byte(count);
        for (var i = 0; i < count; i++)
        {
            w.Int64(newest[i].Position);
            w.Int32(newest[i].Segment);
        }
    }

    private static byte Read(ref WireReader r, ref Newest newest)
    {
        var count = r.Byte();
        if (count > K) throw new MalformedDataException("A stream has too many positions.");
        for (var i = 0; i < count; i++) newest[i] = new Top(r.Int64(), r.Int32());
        return count;
    }
}
