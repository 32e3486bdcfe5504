using System.Buffers.Binary;

namespace Corfu.Backup;

/// <summary>The first bytes of every backup file: the log's cluster and the first position.</summary>
internal readonly record struct BackupFileHeader(ClusterId Cluster, LogPosition From)
{
    public const int Size = 36;
    private const uint Magic = 0x31424643; // "CFB1"
    private const ushort Version = 1;

    private const int CheckOffset = 32;

    public byte[] Encode()
    {
        var bytes = new byte[Size];
        BinaryPrimitives.WriteUInt32LittleEndian(bytes, Magic);
        BinaryPrimitives.WriteUInt16LittleEndian(bytes.AsSpan(4), Version);
        Cluster.Value.TryWriteBytes(bytes.AsSpan(8));
        BinaryPrimitives.WriteInt64LittleEndian(bytes.AsSpan(24), From.Offset);
        var check = Crc32C.Compute(bytes.AsSpan(0, CheckOffset));
        BinaryPrimitives.WriteUInt32LittleEndian(bytes.AsSpan(CheckOffset), check);
        return bytes;
    }

    /// <exception cref="MalformedDataException">No backup file begins here, or one of another version.</exception>
    public static BackupFileHeader Decode(ReadOnlySpan<byte> bytes)
    {
        if (bytes.Length < Size || BinaryPrimitives.ReadUInt32LittleEndian(bytes) != Magic)
            throw new MalformedDataException("It is no backup file");
        var version = BinaryPrimitives.ReadUInt16LittleEndian(bytes[4..]);
        if (version != Version) throw new MalformedDataException($"Its format, {version}, is unknown");
        if (BinaryPrimitives.ReadUInt32LittleEndian(bytes[CheckOffset..]) != Crc32C.Compute(bytes[..CheckOffset]))
            throw new MalformedDataException("Its header is damaged");
        var from = BinaryPrimitives.ReadInt64LittleEndian(bytes[24..]);
        if (from < 0) throw new MalformedDataException("Its first position is negative");
        return new BackupFileHeader(new ClusterId(new Guid(bytes.Slice(8, 16))), new LogPosition(from));
    }
}
