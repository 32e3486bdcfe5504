using System.Buffers.Binary;
using System.Security.Cryptography;
using System.Text;
using Corfu.Store.Records;

namespace Corfu.Store.Values;

/// <summary>Entries of values alone: <c>[1, object id, [bin, ...]]</c>. Their stream has an id of a range of its own:
/// no raw stream, which an operator may let go, and no object's. No process plays it: places lead to its entries. The
/// log is kept for them by the index's claim.</summary>
internal static class ValueStream
{
    /// <summary>2^59: above all objects, below the streams of ledgers.</summary>
    public const ulong FirstValue = 1UL << 59;

    private const int Format = 1;

    // The first 8 bytes (little-endian) of the name's SHA-256, with bit 59 set and those above clear.
    public static StreamId Of(ObjectId store)
    {
        Span<byte> hash = stackalloc byte[SHA256.HashSizeInBytes];
        SHA256.HashData(Encoding.UTF8.GetBytes($"corfu.store/{store}"), hash);
        return new StreamId((BinaryPrimitives.ReadUInt64LittleEndian(hash) & (FirstValue - 1)) | FirstValue);
    }

    public static ReadOnlyMemory<byte> Encode(ObjectId store, IReadOnlyList<ReadOnlyMemory<byte>> values)
    {
        var buffer = new ArgumentBuffer();
        var writer = new MessagePackWriter(buffer);
        writer.WriteArrayHeader(3);
        writer.Write(Format);
        writer.Write(store.Value);
        writer.WriteArrayHeader(values.Count);
        foreach (var value in values) writer.Write(value.Span);
        writer.Flush();
        return buffer.WrittenMemory;
    }

    /// <exception cref="TangoFormatException">The entry is none of the store's values.</exception>
    public static ImmutableArray<ReadOnlyMemory<byte>> Decode(ReadOnlyMemory<byte> payload, ObjectId store)
    {
        var reader = new MessagePackReader(payload);
        try
        {
            reader.ReadArrayHeader(3);
            if (reader.ReadInt32() != Format || reader.ReadUInt64() != store.Value)
                throw new TangoFormatException($"The entry has no values of store {store}");
            return RecordCodec.ReadArray(ref reader, static (ref MessagePackReader inner) => inner.ReadBinary());
        }
        catch (Exception e) when (StrictMessagePack.IsDamage(e))
        {
            throw TangoFormatException.Of(e, reader.Consumed);
        }
    }
}
