using System.Buffers;
using Corfu.StateMachines.Records;

namespace Corfu.StateMachines.Snapshots;

/// <summary>A complete snapshot.</summary>
/// <param name="End">The state is that of all entries below.</param>
/// <param name="Check">XXH3 of the content.</param>
/// <param name="Chunks">In order of the content.</param>
internal sealed record SnapshotRecord(
    LogPosition End, ulong Digest, long Length, ulong Check, ImmutableArray<LogPosition> Chunks)
{
    /// <summary>Whether an append in doubt, sent again, has left the same record twice.</summary>
    public bool IsCopyOf(SnapshotRecord other) =>
        End == other.End && Check == other.Check && Chunks.AsSpan().SequenceEqual(other.Chunks.AsSpan());
}

/// <summary>
/// Bytes of a snapshot's entries, MessagePack: chunk <c>[1, 6, CRC-32C, bytes]</c>, the check being over the chunk's
/// number and its bytes; snapshot <c>[1, 7, end, digest, length, check, [position, ...]]</c>. A position is the
/// difference to the one before.
/// </summary>
internal static class SnapshotCodec
{
    // Bytes of a chunk's entry around the chunk.
    public const int ChunkOverhead = 16;

    // Bytes of a snapshot's entry beside the positions, at most.
    public const int RecordOverhead = 44;

    private const int ChunkKind = 6;
    private const int SnapshotKind = 7;

    public static ReadOnlyMemory<byte> WriteChunk(int number, ReadOnlySpan<byte> bytes)
    {
        var buffer = new ArrayBufferWriter<byte>(bytes.Length + ChunkOverhead);
        var writer = new MessagePackWriter(buffer);
        writer.WriteArrayHeader(4);
        writer.Write(RecordCodec.Format);
        writer.Write(ChunkKind);
        writer.Write(Crc32C.Compute(number, bytes));
        writer.Write(bytes);
        writer.Flush();
        return buffer.WrittenMemory;
    }

    /// <exception cref="MachineFormatException">The bytes are no chunk, or not the one of this number.</exception>
    public static ReadOnlyMemory<byte> ReadChunk(int number, ReadOnlyMemory<byte> entry)
    {
        var (check, bytes) = StrictReading.ReadAll(entry, static (ref MessagePackReader reader) =>
        {
            ReadHead(ref reader, 4, ChunkKind);
            return (reader.ReadUInt32(), reader.ReadBinary());
        });
        return check == Crc32C.Compute(number, bytes.Span)
            ? bytes
            : throw new MachineFormatException($"Chunk {number} of a snapshot is damaged");
    }

    public static ReadOnlyMemory<byte> Write(SnapshotRecord snapshot)
    {
        var buffer = new ArrayBufferWriter<byte>();
        var writer = new MessagePackWriter(buffer);
        writer.WriteArrayHeader(7);
        writer.Write(RecordCodec.Format);
        writer.Write(SnapshotKind);
        writer.Write(snapshot.End.Offset);
        writer.Write(snapshot.Digest);
        writer.Write(snapshot.Length);
        writer.Write(snapshot.Check);
        writer.WriteArrayHeader(snapshot.Chunks.Length);
        var before = LogPosition.Zero;
        foreach (var chunk in snapshot.Chunks)
        {
            writer.Write(chunk - before);
            before = chunk;
        }

        writer.Flush();
        return buffer.WrittenMemory;
    }

    /// <summary>Bytes of a chunk's position in a snapshot's entry.</summary>
    public static int LengthOf(LogPosition chunk, LogPosition before) =>
        (chunk - before) switch
        {
            < 128 => 1,
            <= byte.MaxValue => 2,
            <= ushort.MaxValue => 3,
            <= uint.MaxValue => 5,
            _ => 9,
        };

    /// <exception cref="MachineFormatException">The bytes are no snapshot's.</exception>
    public static SnapshotRecord Read(ReadOnlyMemory<byte> entry) =>
        StrictReading.ReadAll(entry, static (ref MessagePackReader reader) =>
        {
            ReadHead(ref reader, 7, SnapshotKind);
            var (end, digest) = (reader.ReadPosition(), reader.ReadUInt64());
            var (length, check) = (reader.ReadNumber(), reader.ReadUInt64());
            var chunks = ImmutableArray.CreateBuilder<LogPosition>(reader.ReadCount());
            var before = 0L;
            while (chunks.Count < chunks.Capacity)
            {
                before = checked(before + reader.ReadNumber());
                chunks.Add(new LogPosition(before));
            }

            return new SnapshotRecord(end, digest, length, check, chunks.MoveToImmutable());
        });

    private static void ReadHead(ref MessagePackReader reader, int length, int kind)
    {
        reader.ReadArray(length);
        if (reader.ReadInt32() != RecordCodec.Format || reader.ReadInt32() != kind)
            throw new MachineFormatException("The entry is another one than it should be");
    }
}
