using System.Buffers;
using System.Text;
using System.Text.Encodings.Web;
using System.Text.Json;
using Tango;
using Tango.Formatting;

namespace Corfu.Cli;

/// <summary>The records of Tango in a payload (docs/formats-tango.md), read without the types that wrote them: objects
/// by number, arguments as JSON.</summary>
public static class TangoRecords
{
    private const int EntryVersion = 1;
    private const int EntryLength = 4;

    private static readonly JsonWriterOptions Options = new() { Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping };

    /// <summary>Empty if the payload was not written by Tango.</summary>
    public static IReadOnlyList<JsonElement> Read(ReadOnlyMemory<byte> payload)
    {
        try
        {
            return ReadEntry(payload);
        }
        catch (TangoFormatException)
        {
            return [];
        }
    }

    /// <summary>One line for people: the kind, then the rest of the record.</summary>
    public static string ToLine(JsonElement record)
    {
        var text = new StringBuilder(record.GetProperty("kind").GetString());
        foreach (var member in record.EnumerateObject().Skip(1))
            text.Append(' ').Append(member.Name).Append(' ').Append(member.Value.GetRawText());
        return text.ToString();
    }

    private static List<JsonElement> ReadEntry(ReadOnlyMemory<byte> payload)
    {
        List<JsonElement> records = [];
        if (payload.IsEmpty) return records;
        var reader = new MessagePackReader(payload);
        if (reader.NextType != MessagePackType.Array || reader.ReadArrayHeader() != EntryLength) return records;
        if (reader.NextType != MessagePackType.Integer || reader.ReadInt32() != EntryVersion) return records;
        reader.ReadUInt64();
        reader.ReadInt64();
        for (var count = reader.ReadArrayHeader(); count > 0; count--) records.Add(ReadRecord(ref reader));
        return reader.End ? records : [];
    }

    private static JsonElement ReadRecord(ref MessagePackReader reader)
    {
        var output = new ArrayBufferWriter<byte>();
        using (var json = new Utf8JsonWriter(output, Options))
        {
            var length = reader.ReadArrayHeader();
            var kind = (RecordKind)reader.ReadInt32();
            json.WriteStartObject();
            json.WriteString("kind",
                Enum.IsDefined(kind)
                    ? kind.ToString().ToLowerInvariant()
                    : ((int)kind).ToString(System.Globalization.CultureInfo.InvariantCulture));
            var rest = length - 1;
            switch (kind)
            {
                case RecordKind.Update:
                    WriteCall(ref reader, json);
                    rest -= 4;
                    break;
                case RecordKind.Commit:
                    WriteCommit(ref reader, json);
                    rest -= 4;
                    break;
            }

            WriteRest(ref reader, json, rest);
            json.WriteEndObject();
        }

        using var document = JsonDocument.Parse(output.WrittenMemory);
        return document.RootElement.Clone();
    }

    private static void WriteCall(ref MessagePackReader reader, Utf8JsonWriter json)
    {
        json.WriteNumber("object", reader.ReadUInt64());
        json.WriteNumber("mutator", reader.ReadInt32());
        if (!reader.TryReadNil())
        {
            json.WritePropertyName("key");
            WriteKey(reader.ReadBinary(), json);
        }

        json.WritePropertyName("arguments");
        var arguments = new MessagePackReader(reader.ReadBinary());
        MessagePackJson.Write(ref arguments, json);
    }

    private static void WriteCommit(ref MessagePackReader reader, Utf8JsonWriter json)
    {
        json.WriteNumber("flags", reader.ReadInt32());
        json.WriteNumber("snapshot", reader.ReadInt64());
        json.WriteStartArray("reads");
        for (var count = reader.ReadArrayHeader(); count > 0; count--)
        {
            reader.ReadArrayHeader();
            json.WriteStartObject();
            json.WriteNumber("object", reader.ReadUInt64());
            // Without keys the whole object was read.
            if (!reader.TryReadNil())
            {
                json.WriteStartArray("keys");
                for (var keys = reader.ReadArrayHeader(); keys > 0; keys--) WriteKey(reader.ReadBinary(), json);
                json.WriteEndArray();
            }

            json.WriteEndObject();
        }

        json.WriteEndArray();
        json.WriteStartArray("writes");
        for (var count = reader.ReadArrayHeader(); count > 0; count--)
        {
            reader.ReadArrayHeader();
            json.WriteStartObject();
            WriteCall(ref reader, json);
            json.WriteEndObject();
        }

        json.WriteEndArray();
    }

    // The parameters of a key stand one after the other.
    private static void WriteKey(ReadOnlySpan<byte> key, Utf8JsonWriter json)
    {
        var reader = new MessagePackReader(key);
        json.WriteStartArray();
        while (!reader.End) MessagePackJson.Write(ref reader, json);
        json.WriteEndArray();
    }

    // What this version of the tool knows no names for.
    private static void WriteRest(ref MessagePackReader reader, Utf8JsonWriter json, int count)
    {
        if (count <= 0) return;
        json.WriteStartArray("more");
        for (; count > 0; count--) MessagePackJson.Write(ref reader, json);
        json.WriteEndArray();
    }
}
