using System.Buffers.Binary;
using System.Security.Cryptography;
using System.Text;

namespace Corfu.Orleans.Journaling.Storage;

/// <summary>Streams of journals have ids of a range of their own: no raw stream, which any client may append to and an
/// operator may let go, and no object's. The log is kept for them by the <see cref="JournalCatalog"/>.</summary>
internal static class JournalStreams
{
    /// <summary>2^61: above all objects, below the streams of their checkpoints.</summary>
    public const ulong FirstValue = 1UL << 61;

    /// <summary>The first 8 bytes (little-endian) of the name's SHA-256 in UTF-8, with bit 61 set and those above
    /// clear.</summary>
    public static StreamId Of(string name)
    {
        Span<byte> hash = stackalloc byte[SHA256.HashSizeInBytes];
        SHA256.HashData(Encoding.UTF8.GetBytes(name), hash);
        return new StreamId((BinaryPrimitives.ReadUInt64LittleEndian(hash) & (FirstValue - 1)) | FirstValue);
    }
}
