using System.Buffers.Binary;
using System.IO.Hashing;

namespace Salus.Protocol;

/// <summary>An XXH128, as 16 bytes in little-endian order. The default stands for nothing: an empty block, a part of
/// the tree without blocks, the chain before its first record.</summary>
public readonly record struct Hash128(UInt128 Value)
{
    public const int Size = 16;

    public bool IsEmpty => Value == UInt128.Zero;

    /// <summary>Never the default: zero is taken for "empty", so bytes that hash to it get one.</summary>
    public static Hash128 Of(ReadOnlySpan<byte> bytes, long seed = 0)
    {
        var value = XxHash128.HashToUInt128(bytes, seed);
        return new Hash128(value == UInt128.Zero ? UInt128.One : value);
    }

    public static Hash128 Read(ReadOnlySpan<byte> source) => new(BinaryPrimitives.ReadUInt128LittleEndian(source));

    public void Write(Span<byte> target) => BinaryPrimitives.WriteUInt128LittleEndian(target, Value);

    public override string ToString() => Value.ToString("x32", null);
}
