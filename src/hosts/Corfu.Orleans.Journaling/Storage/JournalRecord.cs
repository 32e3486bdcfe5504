using System.Buffers;
using MessagePack;

namespace Corfu.Orleans.Journaling.Storage;

/// <summary>Numbers are part of the record format.</summary>
internal enum JournalRecordKind : byte
{
    /// <summary>Adds data at the journal's end.</summary>
    Append = 1,

    /// <summary>Takes the place of everything before it.</summary>
    Replace = 2,

    /// <summary>Ends the journal. A later one of the same id is another.</summary>
    Delete = 3,

    /// <summary>Data ahead of the record of the same batch, which alone does not fit an entry.</summary>
    Part = 4,
}

/// <summary>An entry of a journal's stream.</summary>
/// <remarks>A MessagePack array: magic number, format version, kind, journal id, batch, number of parts, base, format
/// key, data.</remarks>
/// <param name="Journal">The journal's id: numbers of streams are hashes.</param>
/// <param name="Batch">Ties parts to their record.</param>
/// <param name="Parts">How many there are.</param>
/// <param name="Base">Offset of the record that its writer saw as the newest in force, or of the catalog's that created
/// the journal. The record is in force if this was so at its place in the log.</param>
/// <param name="FormatKey">Format of the data.</param>
internal sealed record JournalRecord(
    JournalRecordKind Kind, string Journal, Guid Batch, int Parts, long Base, string? FormatKey,
    ReadOnlyMemory<byte> Data)
{
    public const long None = -1;

    /// <summary>Bytes of an entry beside data, format key and the journal's id.</summary>
    public const int Overhead = 128;

    private const int Magic = 0x4A524E4C;
    private const int Version = 1;
    private const int Fields = 9;

    public ReadOnlyMemory<byte> Encode()
    {
        var buffer = new ArrayBufferWriter<byte>(Data.Length + Overhead + Journal.Length);
        var writer = new MessagePackWriter(buffer);
        writer.WriteArrayHeader(Fields);
        writer.Write(Magic);
        writer.Write(Version);
        writer.Write((byte)Kind);
        writer.Write(Journal);
        writer.Write(Batch.ToByteArray());
        writer.Write(Parts);
        writer.Write(Base);
        writer.Write(FormatKey);
        writer.Write(Data.Span);
        writer.Flush();
        return buffer.WrittenMemory;
    }

    /// <returns>Null: the entry is no journal's record. All readers pass over it.</returns>
    /// <exception cref="CorfuJournalException">The record is of a later version.</exception>
    public static JournalRecord? Decode(ReadOnlyMemory<byte> payload, string where)
    {
        try
        {
            var reader = new MessagePackReader(payload);
            int fields = reader.ReadArrayHeader();
            if (reader.ReadInt32() != Magic) return null;
            int version = reader.ReadInt32();
            if (version != Version)
            {
                throw new CorfuJournalException(
                    $"{where} is a journal record of format {version}; this version of the package reads {Version}.");
            }

            var kind = (JournalRecordKind)reader.ReadByte();
            if (fields != Fields || !Enum.IsDefined(kind)) return null;
            return new JournalRecord(
                kind, reader.ReadString() ?? "", new Guid(reader.ReadBytes()!.Value.ToArray()), reader.ReadInt32(),
                reader.ReadInt64(), reader.ReadString(), reader.ReadBytes()!.Value.ToArray());
        }
        catch (Exception e) when (e is MessagePackSerializationException or EndOfStreamException
            or InvalidOperationException or ArgumentException or OverflowException)
        {
            return null;
        }
    }
}
