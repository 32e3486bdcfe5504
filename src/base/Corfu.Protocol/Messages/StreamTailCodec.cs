namespace Corfu.Protocol;

/// <summary>Stream tails on the wire. In <see cref="ListStreamTailsRequest"/> a tail's positions are added to what the
/// reader has; elsewhere fewer than <see cref="StreamHeader.MaxBackpointers"/> mean that there are no more.</summary>
public static class StreamTailCodec
{
    private const int SmallestSize = 9;

    public static void WriteAll(ref WireWriter w, ImmutableArray<StreamTail> tails) =>
        w.Array(tails, static (ref w, tail) =>
        {
            w.Stream(tail.Stream);
            w.Byte((byte)tail.Positions.Length);
            foreach (var position in tail.Positions) w.Position(position);
        });

    /// <exception cref="MalformedDataException">The tails are damaged, or more than
    /// <see cref="MessageLimits.MaxItems"/>.</exception>
    public static ImmutableArray<StreamTail> ReadAll(ref WireReader r) => r.Array(SmallestSize, Read);

    private static StreamTail Read(ref WireReader r)
    {
        var stream = r.Stream();
        var count = r.Byte();
        if (count > StreamHeader.MaxBackpointers)
            throw new MalformedDataException("A stream tail has too many positions.");
        var positions = ImmutableArray.CreateBuilder<LogPosition>(count);
        for (var i = 0; i < count; i++) positions.Add(r.Position());
        return new StreamTail(stream, positions.DrainToImmutable());
    }
}
