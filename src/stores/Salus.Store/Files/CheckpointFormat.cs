using System.Buffers.Binary;

namespace Salus.Store.Files;

/// <summary>The bytes of a checkpoint file, in order: the beginning (4 KiB: magic, version, zeros), blocks, index
/// pages, the state, the hash of each MiB before, the end (80 bytes). The end's last field hashes the end, which hashes
/// the others: it is the digest of the whole file.</summary>
/// <remarks>The end: magic (8), offset of the state (8), its length (4), the number of MiB hashes (4), blocks (4), zero
/// (4), the hash of the state (16), the hash of the MiB hashes (16), the hash of these 64 bytes (16).</remarks>
internal static class CheckpointFormat
{
    public const int BeginSize = 4096;
    public const int EndSize = 80;
    public const int PieceSize = 1 << 20;

    /// <summary>Bounds what a reader takes for a state.</summary>
    public const int MaxState = 1 << 20;

    private const ulong BeginMagic = 0x0031544B43534C53; // "SLSCKT1"
    private const ulong EndMagic = 0x0031444E45534C53; // "SLSEND1"
    private const int Hashed = EndSize - Hash128.Size;

    public static byte[] Begin()
    {
        var bytes = new byte[BeginSize];
        BinaryPrimitives.WriteUInt64LittleEndian(bytes, BeginMagic);
        return bytes;
    }

    public static long OffsetOf(uint slot, int blockSize) => BeginSize + ((long)slot * blockSize);

    public static byte[] EncodeEnd(in CheckpointEnd end)
    {
        var bytes = new byte[EndSize];
        BinaryPrimitives.WriteUInt64LittleEndian(bytes, EndMagic);
        BinaryPrimitives.WriteInt64LittleEndian(bytes.AsSpan(8), end.StateOffset);
        BinaryPrimitives.WriteInt32LittleEndian(bytes.AsSpan(16), end.StateLength);
        BinaryPrimitives.WriteInt32LittleEndian(bytes.AsSpan(20), end.Pieces);
        BinaryPrimitives.WriteInt32LittleEndian(bytes.AsSpan(24), end.Blocks);
        end.StateHash.Write(bytes.AsSpan(32));
        end.PiecesHash.Write(bytes.AsSpan(48));
        Hash128.Of(bytes.AsSpan(0, Hashed)).Write(bytes.AsSpan(Hashed));
        return bytes;
    }

    /// <exception cref="MalformedDataException">The bytes are no end of a file of that length.</exception>
    public static (CheckpointEnd End, Hash128 Digest) DecodeEnd(ReadOnlySpan<byte> bytes, long length)
    {
        if (bytes.Length != EndSize || BinaryPrimitives.ReadUInt64LittleEndian(bytes) != EndMagic)
            throw new MalformedDataException("The file does not end like a checkpoint.");
        var digest = Hash128.Read(bytes[Hashed..]);
        if (digest != Hash128.Of(bytes[..Hashed])) throw new MalformedDataException("The file's end is damaged.");
        var end = new CheckpointEnd(BinaryPrimitives.ReadInt64LittleEndian(bytes[8..]),
            BinaryPrimitives.ReadInt32LittleEndian(bytes[16..]), BinaryPrimitives.ReadInt32LittleEndian(bytes[20..]),
            BinaryPrimitives.ReadInt32LittleEndian(bytes[24..]), Hash128.Read(bytes[32..]), Hash128.Read(bytes[48..]));
        var hashed = end.StateOffset + end.StateLength;
        if (end.StateOffset < BeginSize || end.StateLength is < 0 or > MaxState || end.Blocks < 0
            || end.Pieces != (hashed + PieceSize - 1) / PieceSize
            || length != hashed + ((long)end.Pieces * Hash128.Size) + EndSize)
            throw new MalformedDataException("The file's end and its length do not agree: the file was cut or grew.");
        return (end, digest);
    }
}

/// <param name="Pieces">MiB hashes, of everything before them.</param>
internal readonly record struct CheckpointEnd(
    long StateOffset, int StateLength, int Pieces, int Blocks, Hash128 StateHash, Hash128 PiecesHash);
