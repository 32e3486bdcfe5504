using System.Buffers.Binary;

namespace Salus.Protocol;

/// <summary>Fixed fields in their order, little-endian, and their hash: what a signature or a link of the chain
/// covers.</summary>
/// <param name="buffer">Takes all fields.</param>
internal ref struct FactWriter(Span<byte> buffer)
{
    private readonly Span<byte> _buffer = buffer;
    private int _used;

    public void Byte(byte value) => Take(1)[0] = value;

    public void Int32(int value) => BinaryPrimitives.WriteInt32LittleEndian(Take(4), value);

    public void Int64(long value) => BinaryPrimitives.WriteInt64LittleEndian(Take(8), value);

    public void Guid(Guid value) => value.TryWriteBytes(Take(16));

    public void Hash(Hash128 value) => value.Write(Take(Hash128.Size));

    public readonly Hash128 ToHash(long seed = 0) => Hash128.Of(_buffer[.._used], seed);

    private Span<byte> Take(int count)
    {
        var slice = _buffer.Slice(_used, count);
        _used += count;
        return slice;
    }
}
