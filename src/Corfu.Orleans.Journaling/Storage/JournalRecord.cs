using System.Buffers;
using System.Collections.Immutable;
using MessagePack;

namespace Corfu.Orleans.Journaling.Storage;

/// <summary>Numbers are part of the record format.</summary>
internal enum JournalRecordKind : byte
{
    /// <summary>Adds data at the journal's end.</summary>
    Append = 1,

    /// <summary>Takes the place of everything before it.</summary>
    Replace = 2,

    /// <summary>Ends the journal; a later record begins it anew.</summary>
    Delete = 3,

    /// <summary>Sets all of the caller's properties.</summary>
    Properties = 4,

    /// <summary>Data ahead of the record of the same batch, which alone does not fit an entry.</summary>
    Part = 5,
}

/// <summary>One entry of a journal's stream.</summary>
/// <remarks>
/// A MessagePack array: format version, kind, journal id, batch, number of parts, base, root, start, format key,
/// properties (a map, or nil), data.
/// </remarks>
/// <param name="Journal">Its id: names of streams are hashes.</param>
/// <param name="Batch">Ties parts to their record.</param>
/// <param name="Parts">How many there are.</param>
/// <param name="Base">Offset of the record that its writer saw as the newest in force; -1 for none. The record is in
/// force if that was so where it stands.</param>
/// <param name="Root">Offset of the newest record in force, as its writer knew, that takes the place of everything
/// before; -1 for none. A fact, also where this record itself is not in force.</param>
/// <param name="Start">Offset of the root's first part, or the root's own.</param>
/// <param name="FormatKey">Of the data.</param>
/// <param name="Properties">With kinds that set them.</param>
internal sealed record JournalRecord(
    JournalRecordKind Kind, string Journal, Guid Batch, int Parts, long Base, long Root, long Start,
    string? FormatKey, ImmutableSortedDictionary<string, string>? Properties, ReadOnlyMemory<byte> Data)
{
    public const long None = -1;

    /// <summary>What an entry needs beside data, format key, properties and the journal's id.</summary>
    public const int Overhead = 128;

    private const int Version = 1;
    private const int Fields = 11;

    public ReadOnlyMemory<byte> Encode()
    {
        var buffer = new ArrayBufferWriter<byte>(Data.Length + Overhead + Journal.Length);
        var writer = new MessagePackWriter(buffer);
        writer.WriteArrayHeader(Fields);
        writer.Write(Version);
        writer.Write((byte)Kind);
        writer.Write(Journal);
        writer.Write(Batch.ToByteArray());
        writer.Write(Parts);
        writer.Write(Base);
        writer.Write(Root);
        writer.Write(Start);
        writer.Write(FormatKey);
        if (Properties is null)
        {
            writer.WriteNil();
        }
        else
        {
            writer.WriteMapHeader(Properties.Count);
            foreach (var (key, value) in Properties)
            {
                writer.Write(key);
                writer.Write(value);
            }
        }

        writer.Write(Data.Span);
        writer.Flush();
        return buffer.WrittenMemory;
    }

    /// <exception cref="CorfuJournalException">The entry is no record, or of a later version.</exception>
    public static JournalRecord Decode(ReadOnlyMemory<byte> payload, string where)
    {
        try
        {
            var reader = new MessagePackReader(payload);
            int fields = reader.ReadArrayHeader();
            int version = reader.ReadInt32();
            if (version != Version || fields != Fields)
            {
                throw new CorfuJournalException(
                    $"{where} is a journal record of format {version}; this version of the package reads {Version}.");
            }

            var kind = (JournalRecordKind)reader.ReadByte();
            if (!Enum.IsDefined(kind)) throw new CorfuJournalException($"{where} is no journal record.");
            return new JournalRecord(
                kind, reader.ReadString() ?? "", new Guid(reader.ReadBytes()!.Value.ToArray()), reader.ReadInt32(),
                reader.ReadInt64(), reader.ReadInt64(), reader.ReadInt64(), reader.ReadString(),
                ReadProperties(ref reader), reader.ReadBytes()!.Value.ToArray());
        }
        catch (Exception e) when (e is MessagePackSerializationException or EndOfStreamException
            or InvalidOperationException or ArgumentException or OverflowException)
        {
            throw new CorfuJournalException($"{where} is no journal record.", e);
        }
    }

    private static ImmutableSortedDictionary<string, string>? ReadProperties(ref MessagePackReader reader)
    {
        if (reader.TryReadNil()) return null;
        var properties = ImmutableSortedDictionary.CreateBuilder<string, string>(StringComparer.Ordinal);
        for (int left = reader.ReadMapHeader(); left > 0; left--)
        {
            string key = reader.ReadString() ?? throw new MessagePackSerializationException("A key is nil.");
            properties[key] = reader.ReadString() ?? throw new MessagePackSerializationException("A value is nil.");
        }

        return properties.ToImmutable();
    }
}
