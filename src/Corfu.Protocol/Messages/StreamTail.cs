using System.Collections.Immutable;

namespace Corfu.Protocol;

/// <summary>
/// A stream's last positions, newest first, at most <see cref="StreamHeader.MaxBackpointers"/>. Fewer mean that there
/// are no more, except in <see cref="ListStreamTailsRequest"/>, whose positions are added to what the reader has.
/// </summary>
public sealed record StreamTail(StreamId Stream, ImmutableArray<LogPosition> Positions)
{
    internal const int SmallestSize = 9;

    public bool Equals(StreamTail? other) =>
        other is not null && Stream == other.Stream && Positions.AsSpan().SequenceEqual(other.Positions.AsSpan());

    public override int GetHashCode() => HashCode.Combine(Stream, Positions.Length);

    public static void WriteAll(ref WireWriter w, ImmutableArray<StreamTail> tails)
    {
        w.Int32(tails.Length);
        foreach (var tail in tails)
        {
            w.Stream(tail.Stream);
            w.Byte((byte)tail.Positions.Length);
            foreach (var position in tail.Positions) w.Position(position);
        }
    }

    /// <exception cref="MalformedDataException">They are damaged, or more than
    /// <see cref="MessageLimits.MaxItems"/>.</exception>
    public static ImmutableArray<StreamTail> ReadAll(ref WireReader r)
    {
        var tails = ImmutableArray.CreateBuilder<StreamTail>(r.Count(SmallestSize, MessageLimits.MaxItems));
        for (var i = tails.Capacity; i > 0; i--)
        {
            var stream = r.Stream();
            var count = r.Byte();
            if (count > StreamHeader.MaxBackpointers)
                throw new MalformedDataException("A stream tail has too many positions.");
            var positions = ImmutableArray.CreateBuilder<LogPosition>(count);
            for (var j = 0; j < count; j++) positions.Add(r.Position());
            tails.Add(new StreamTail(stream, positions.DrainToImmutable()));
        }

        return tails.DrainToImmutable();
    }

    internal static void WriteIds(ref WireWriter w, ImmutableArray<StreamId> streams)
    {
        w.Int32(streams.Length);
        foreach (var stream in streams) w.Stream(stream);
    }

    internal static ImmutableArray<StreamId> ReadIds(ref WireReader r)
    {
        var streams = ImmutableArray.CreateBuilder<StreamId>(r.Count(8, MessageLimits.MaxItems));
        for (var i = streams.Capacity; i > 0; i--) streams.Add(r.Stream());
        return streams.DrainToImmutable();
    }
}
