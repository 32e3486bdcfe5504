using System.Buffers;
using System.Buffers.Binary;

namespace Corfu.Unit;

// Streams in records of the log and in checkpoints, some at a time.
internal sealed partial class StreamIndex
{
    /// <summary>Streams that one call visits, so that requests need not wait long for it.</summary>
    private const int StreamsPerStep = MessageLimits.MaxItems;

    private const int LargestStream = 9 + (2 * K * 8);

    /// <summary>The body of a record with the next streams that have a position in one of these segments. The caller
    /// appends it and calls <see cref="Carried"/>. Empty: none in this step. <paramref name="next"/> is at the count
    /// when all is done.</summary>
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
            if (!StandsIn(ref tops, going)) continue;
            carried.Add(next);
            var count = tops.Frozen.Count + tops.Live.Count;
            w.Stream(tops.Stream);
            w.Byte((byte)count);
            foreach (var top in tops.Live.Span) w.Int64(top.Position);
            foreach (var top in tops.Frozen.Span) w.Int64(top.Position);
            size += 9 + (8 * count);
        }

        w.Flush();
        return WithCount(body, carried.Count);
    }

    /// <summary>The carried positions stand in this segment from now on.</summary>
    public void Carried(List<int> numbers, int segment)
    {
        foreach (var number in numbers)
        {
            ref var tops = ref At(number);
            foreach (ref var top in tops.Frozen.Span) top = top with { Segment = segment };
            foreach (ref var top in tops.Live.Span) top = top with { Segment = segment };
        }
    }

    /// <summary>How many of the next streams have a position in one of these segments.</summary>
    public int CountIn(IReadOnlySet<int> going, ref int next)
    {
        var found = 0;
        for (var until = Math.Min(Count, next + StreamsPerStep); next < until; next++)
        {
            if (StandsIn(ref At(next), going)) found++;
        }

        return found;
    }

    /// <summary>Adds what a body of <see cref="Carry"/> or <see cref="WriteUnknown"/> says.</summary>
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

    /// <summary>For a checkpoint: each stream is a true byte and its lists; a false byte ends them.</summary>
    public void Write(IBufferWriter<byte> output, ref int next)
    {
        var w = new WireWriter(output);
        for (var until = Math.Min(Count, next + StreamsPerStep); next < until; next++)
        {
            ref var tops = ref At(next);
            w.Bool(true);
            w.Stream(tops.Stream);
            Write(ref w, tops.Frozen.Span);
            Write(ref w, tops.Live.Span);
        }

        if (next == Count) w.Bool(false);
        w.Flush();
    }

    public void Read(ref WireReader r)
    {
        while (r.Bool())
        {
            ref var tops = ref Get(r.Stream());
            tops.Frozen = ReadNewest(ref r);
            tops.Live = ReadNewest(ref r);
            tops.FrozenBelow = 0;
        }
    }

    private static bool StandsIn(ref Tops tops, IReadOnlySet<int> going)
    {
        foreach (var top in tops.Frozen.Span)
        {
            if (going.Contains(top.Segment)) return true;
        }

        foreach (var top in tops.Live.Span)
        {
            if (going.Contains(top.Segment)) return true;
        }

        return false;
    }

    // A body begins with the number of its streams, known at its end. Empty if there are none.
    private static ReadOnlyMemory<byte> WithCount(ArrayBufferWriter<byte> body, int streams)
    {
        if (streams == 0) return default;
        var bytes = body.WrittenSpan.ToArray();
        BinaryPrimitives.WriteInt32LittleEndian(bytes, streams);
        return bytes;
    }

    private static void Write(ref WireWriter w, ReadOnlySpan<Top> newest)
    {
        w.Byte((byte)newest.Length);
        foreach (var top in newest)
        {
            w.Int64(top.Position);
            w.Int32(top.Segment);
        }
    }

    private static Newest ReadNewest(ref WireReader r)
    {
        var count = r.Byte();
        if (count > K) throw new MalformedDataException("A stream has too many positions.");
        var newest = default(Newest);
        for (var i = 0; i < count; i++) newest.Insert(new Top(r.Int64(), r.Int32()));
        return newest;
    }
}
