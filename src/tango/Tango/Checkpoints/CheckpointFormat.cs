using System.Buffers.Binary;
using System.Collections.Immutable;
using Corfu;
using Tango.Formatting;
using Tango.Records;

namespace Tango.Checkpoints;

/// <summary>
/// The entries of a checkpoint stream: <c>[2, runtime, checkpoint, [record]]</c>, where the record is a chunk
/// <c>[6, index, crc, bytes]</c> or the final record <c>[5, oldest reader, end, [part length, ...], crc, [position,
/// ...]]</c>. The chunks are the content.
/// </summary>
internal static class CheckpointFormat
{
    // The version of the array heads, the kind and the numbers, each at its longest.
    private const int ChunkOverhead = EntryFormat.MaxHeaderSize + 1 + 1 + 5 + 5 + 5;
    private const int FinalOverhead = EntryFormat.MaxHeaderSize + 1 + 1 + 5 + 9 + 5 + 5 + 5;
    private const int MaxNumber = 9;

    private const int ChunkLength = 4;
    private const int FinalLength = 6;

    // Larger chunks would keep the appends of others waiting for longer.
    private const int MaxChunk = 256 * 1024;

    /// <summary>The ids from 2^62 on are those of checkpoint streams; a cohort's is that of its first member.</summary>
    public static StreamId StreamOf(ObjectId first) => new(first.Value + ObjectId.EndOfUser);

    /// <summary>Bytes of content in a chunk. An entry holds at least one.</summary>
    public static int ChunkSize(int maxPayload) => Math.Clamp(maxPayload - ChunkOverhead, 1, MaxChunk);

    /// <summary>The longest content whose chunks the final record can name: 30 GB where entries hold 1 MiB.</summary>
    public static long MaxContent(int parts, int maxPayload) =>
        Math.Max(0, ((maxPayload - FinalOverhead) / MaxNumber) - parts) * (long)ChunkSize(maxPayload);

    public static uint Check(ReadOnlySpan<byte> chunk) => Crc32C.Compute(chunk);

    /// <summary>The check of a content: of its chunks' checks, 4 bytes each, little-endian.</summary>
    public static uint CheckAll(IReadOnlyList<uint> checks)
    {
        var bytes = new byte[checks.Count * sizeof(uint)];
        for (var i = 0; i < checks.Count; i++)
            BinaryPrimitives.WriteUInt32LittleEndian(bytes.AsSpan(i * sizeof(uint)), checks[i]);
        return Crc32C.Compute(bytes);
    }

    public static ReadOnlyMemory<byte> EncodeChunk(CheckpointId id, int index, ReadOnlySpan<byte> bytes)
    {
        var buffer = new ArgumentBuffer(ChunkOverhead + bytes.Length);
        var writer = new MessagePackWriter(buffer);
        EntryFormat.WriteHeader(ref writer, id.Runtime, id.Sequence, 1);
        writer.WriteArrayHeader(ChunkLength);
        writer.Write((int)RecordKind.Chunk);
        writer.Write(index);
        writer.Write(Check(bytes));
        writer.Write(bytes);
        writer.Flush();
        return buffer.WrittenMemory;
    }

    /// <exception cref="TangoFormatException">The payload is not this chunk, or damaged.</exception>
    public static ReadOnlyMemory<byte> DecodeChunk(ReadOnlyMemory<byte> payload, CheckpointId id, int index)
    {
        try
        {
            var reader = new MessagePackReader(payload);
            var header = EntryFormat.ReadHeader(ref reader);
            reader.ReadArrayHeader(ChunkLength);
            var isExpected = header.Records == 1 && new CheckpointId(header.Runtime, header.Sequence) == id
                && reader.ReadInt32() == (int)RecordKind.Chunk && reader.ReadInt32() == index;
            if (!isExpected) throw new TangoFormatException($"Not chunk {index} of {id}");
            var check = reader.ReadUInt32();
            var bytes = reader.ReadBinary();
            if (Check(bytes.Span) == check) return bytes;
        }
        catch (Exception e) when (e is not TangoException && StrictMessagePack.IsDamage(e))
        {
            throw new TangoFormatException($"Chunk {index} of {id} cannot be read", e);
        }

        throw new TangoFormatException($"Chunk {index} of {id} is damaged");
    }

    public static ReadOnlyMemory<byte> EncodeFinal(FinalRecord record)
    {
        var buffer = new ArgumentBuffer(FinalOverhead);
        var writer = new MessagePackWriter(buffer);
        EntryFormat.WriteHeader(ref writer, record.Id.Runtime, record.Id.Sequence, 1);
        writer.WriteArrayHeader(FinalLength);
        writer.Write((int)RecordKind.Checkpoint);
        writer.Write(record.OldestReader);
        writer.Write(record.End.Offset);
        writer.WriteArrayHeader(record.PartLengths.Length);
        foreach (var length in record.PartLengths) writer.Write(length);
        writer.Write(record.Check);
        writer.WriteArrayHeader(record.Positions.Length);
        foreach (var position in record.Positions) writer.Write(position.Offset);
        writer.Flush();
        return buffer.WrittenMemory;
    }

    /// <returns>Null: a chunk, or nothing that this code knows.</returns>
    public static FinalRecord? TryDecodeFinal(ReadOnlyMemory<byte> payload)
    {
        try
        {
            var reader = new MessagePackReader(payload);
            var header = EntryFormat.ReadHeader(ref reader);
            var isFinal = header.Records == 1 && reader.ReadCount() == FinalLength
                && reader.ReadInt32() == (int)RecordKind.Checkpoint;
            if (!isFinal) return null;
            var oldestReader = reader.ReadInt32();
            var end = RecordFormat.ReadPosition(ref reader);
            var parts = ImmutableArray.CreateBuilder<long>();
            for (var left = reader.ReadCount(); left > 0; left--) parts.Add(reader.ReadInt64());
            var check = reader.ReadUInt32();
            var positions = ImmutableArray.CreateBuilder<LogPosition>();
            for (var left = reader.ReadCount(); left > 0; left--)
                positions.Add(RecordFormat.ReadPosition(ref reader));
            return new FinalRecord(
                new CheckpointId(header.Runtime, header.Sequence), oldestReader, end, parts.DrainToImmutable(), check,
                positions.DrainToImmutable());
        }
        catch (Exception e) when (StrictMessagePack.IsDamage(e))
        {
            return null;
        }
    }
}

/// <summary>Makes a checkpoint one: without it, the chunks are nothing.</summary>
/// <param name="OldestReader">Feature level of the oldest code that can read the content.</param>
/// <param name="Check">See <see cref="CheckpointFormat.CheckAll"/>.</param>
/// <param name="Positions">Positions of the chunks, in order.</param>
internal sealed record FinalRecord(
    CheckpointId Id, int OldestReader, LogPosition End, ImmutableArray<long> PartLengths, uint Check,
    ImmutableArray<LogPosition> Positions);
