using System.Buffers.Binary;
using System.Runtime.InteropServices;
using System.Text;

namespace Corfu.Protocol;

/// <summary>Reads what <see cref="WireWriter"/> wrote. Every length is checked against the remaining bytes before
/// anything is allocated for it; damage is a <see cref="MalformedDataException"/>.</summary>
/// <param name="version">The connection's version; formats with a version of their own leave it out.</param>
public ref struct WireReader(ReadOnlyMemory<byte> input, ushort version = 0)
{
    private readonly ReadOnlyMemory<byte> _input = input;
    private int _offset;

    /// <summary>The version that a message's body was written in.</summary>
    public ushort Version { get; } = version;

    public readonly int Remaining => _input.Length - _offset;

    public byte Byte() => Take(1)[0];

    public bool Bool() => Byte() switch
    {
        0 => false,
        1 => true,
        _ => throw new MalformedDataException("A flag is neither 0 nor 1."),
    };

    public ushort UInt16() => BinaryPrimitives.ReadUInt16LittleEndian(Take(2));

    public int Int32() => BinaryPrimitives.ReadInt32LittleEndian(Take(4));

    public uint UInt32() => BinaryPrimitives.ReadUInt32LittleEndian(Take(4));

    public long Int64() => BinaryPrimitives.ReadInt64LittleEndian(Take(8));

    public ulong UInt64() => BinaryPrimitives.ReadUInt64LittleEndian(Take(8));

    public Guid Guid() => new(Take(16));

    public Epoch Epoch()
    {
        var value = Int64();
        return value >= 0 ? new Epoch(value) : throw new MalformedDataException("An epoch is negative.");
    }

    public LogPosition Position(Epoch epoch = default)
    {
        var value = Int64();
        return value >= 0 ? new LogPosition(value, epoch) : throw new MalformedDataException("A position is negative.");
    }

    public StreamId Stream() => new(UInt64());

    public EntryOrigin Origin() => new(new WriterId(Guid()), Int64());

    public NodeAddress Address() => new(new NodeId(Guid()), Endpoint());

    public NodeEndpoint Endpoint() => new(Text(MessageLimits.MaxHost), UInt16());

    public ImmutableArray<LogPosition> Positions() => Array(8, static (ref r) => r.Position());

    public ImmutableArray<StreamId> Streams(int limit = MessageLimits.MaxItems) =>
        Array(8, static (ref r) => r.Stream(), limit);

    public ImmutableArray<StreamTail> Tails() => Array(9, static (ref r) => r.Tail());

    /// <summary>A count and that many elements, refused as <see cref="Count"/> does.</summary>
    public ImmutableArray<T> Array<T>(int smallestElement, ReadElement<T> read, int limit = MessageLimits.MaxItems)
    {
        var elements = new T[Count(smallestElement, limit)];
        for (var i = 0; i < elements.Length; i++) elements[i] = read(ref this);
        return ImmutableCollectionsMarshal.AsImmutableArray(elements);
    }

    /// <summary>A slice of the input, not a copy: it lives as long as the input does.</summary>
    public ReadOnlyMemory<byte> Bytes()
    {
        var length = Int32();
        if (length < 0 || length > Remaining)
            throw new MalformedDataException("A length exceeds the bytes that follow.");
        var slice = _input.Slice(_offset, length);
        _offset += length;
        return slice;
    }

    /// <summary>A text for people.</summary>
    public string Reason() => Text(MessageLimits.MaxReason);

    public string Text(int limit)
    {
        var bytes = Bytes();
        if (bytes.Length > limit) throw new MalformedDataException($"A text is longer than {limit} bytes.");
        try
        {
            return Strict.GetString(bytes.Span);
        }
        catch (DecoderFallbackException)
        {
            throw new MalformedDataException("A text is not valid UTF-8.");
        }
    }

    /// <summary>An element count, refused when as many elements of the smallest size exceed the remaining
    /// bytes.</summary>
    public int Count(int smallestElement, int limit = int.MaxValue)
    {
        var count = Int32();
        if (count < 0 || count > limit || (long)count * smallestElement > Remaining)
            throw new MalformedDataException("A count exceeds its limit or the bytes that follow.");
        return count;
    }

    /// <summary>For a format without later fields: trailing bytes are damage.</summary>
    public readonly void End()
    {
        if (Remaining != 0) throw new MalformedDataException($"{Remaining} bytes follow the end of a message.");
    }

    private static readonly UTF8Encoding Strict = new(false, true);

    private StreamTail Tail()
    {
        var stream = Stream();
        var count = Byte();
        if (count > StreamHeader.MaxBackpointers)
            throw new MalformedDataException("A stream tail has too many positions.");
        var positions = ImmutableArray.CreateBuilder<LogPosition>(count);
        for (var i = 0; i < count; i++) positions.Add(Position());
        return new StreamTail(stream, positions.DrainToImmutable());
    }

    private ReadOnlySpan<byte> Take(int count)
    {
        if (count > Remaining) throw new MalformedDataException("The bytes end inside a field.");
        var slice = _input.Span.Slice(_offset, count);
        _offset += count;
        return slice;
    }
}

public delegate T ReadElement<out T>(ref WireReader r);

/// <summary>Bytes that are no valid frame, message, projection or entry.</summary>
public sealed class MalformedDataException(string message) : CorfuException(message);
