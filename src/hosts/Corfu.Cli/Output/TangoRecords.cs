using System.Buffers;
using System.Text;
using System.Text.Encodings.Web;
using System.Text.Json;
using Tango;
using Tango.Formatting;

namespace Corfu.Cli;

/// <summary>The records of Tango in a payload (docs/formats/tango.md), read without the types that wrote them: objects
/// by number, arguments as JSON.</summary>
public static class TangoRecords
{
    private const int EntryVersion = 2;
    private const int EntryLength = 4;

    private static readonly JsonWriterOptions Options = new() { Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping };

    /// <summary>Empty if the payload was not written by Tango.</summary>
    public static IReadOnlyList<JsonElement> Read(ReadOnlyMemory<byte> payload)
    {
        try
        {
            return ReadEntry(payload);
        }
        catch (Exception e) when (StrictMessagePack.IsDamage(e))
        {
            return [];
        }
    }

    /// <summary>A line for people: the kind, then the rest of the record.</summary>
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
        if (reader.NextMessagePackType != MessagePackType.Array || reader.ReadCount() != EntryLength) return records;
        if (reader.NextMessagePackType != MessagePackType.Integer || reader.ReadInt32() != EntryVersion) return records;
        reader.ReadUInt64();
        reader.ReadInt64();
        for (var count = reader.ReadCount(); count > 0; count--) records.Add(ReadRecord(ref reader));
        return reader.End ? records : [];
    }

    private static JsonElement ReadRecord(ref MessagePackReader reader)
    {
        var output = new ArrayBufferWriter<byte>();
        using (var json = new Utf8JsonWriter(output, Options))
        {
            var length = reader.ReadCount();
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
                case RecordKind.Commit when length >= 6:
                    WriteCommit(ref reader, json);
                    rest -= 5;
                    break;
                case RecordKind.Decision when length >= 4:
                    WriteVersion(ref reader, json);
                    WriteAborted(ref reader, json);
                    rest -= 3;
                    break;
                case RecordKind.Spill when length >= 2:
                    WriteCalls("writes", ref reader, json);
                    rest -= 1;
                    break;
                case RecordKind.Checkpoint when length >= 6:
                    WriteCheckpoint(ref reader, json);
                    rest -= 5;
                    break;
                case RecordKind.Chunk when length >= 4:
                    json.WriteNumber("index", reader.ReadInt64());
                    json.WriteNumber("check", reader.ReadUInt32());
                    // The bytes are in the payload.
                    json.WriteNumber("length", reader.ReadBinary().Length);
                    rest -= 3;
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
        if (reader.NextMessagePackType == MessagePackType.Array)
        {
            WriteKeys(ref reader, json);
        }
        else if (!reader.TryReadNil())
        {
            json.WritePropertyName("key");
            WriteKey(reader.ReadBinary(), json);
        }

        json.WritePropertyName("arguments");
        var arguments = new MessagePackReader(reader.ReadBinary());
        WriteValue(ref arguments, json);
    }

    private static void WriteKeys(ref MessagePackReader reader, Utf8JsonWriter json)
    {
        json.WriteStartArray("keys");
        for (var keys = reader.ReadCount(); keys > 0; keys--) WriteKey(reader.ReadBinary(), json);
        json.WriteEndArray();
    }

    private static void WriteCommit(ref MessagePackReader reader, Utf8JsonWriter json)
    {
        json.WriteNumber("flags", reader.ReadInt32());
        json.WriteNumber("snapshot", reader.ReadInt64());
        json.WriteStartArray("reads");
        for (var count = reader.ReadCount(); count > 0; count--)
        {
            reader.ReadCount();
            json.WriteStartObject();
            json.WriteNumber("object", reader.ReadUInt64());
            // Without keys the whole object was read.
            if (!reader.TryReadNil()) WriteKeys(ref reader, json);

            json.WriteEndObject();
        }

        json.WriteEndArray();
        WriteCalls("writes", ref reader, json);
        json.WriteStartArray("spills");
        for (var count = reader.ReadCount(); count > 0; count--)
        {
            reader.ReadCount();
            json.WriteStartObject();
            WriteVersion(ref reader, json);
            json.WriteStartArray("objects");
            for (var objects = reader.ReadCount(); objects > 0; objects--) json.WriteNumberValue(reader.ReadUInt64());
            json.WriteEndArray();
            json.WriteEndObject();
        }

        json.WriteEndArray();
    }

    private static void WriteCalls(string name, ref MessagePackReader reader, Utf8JsonWriter json)
    {
        json.WriteStartArray(name);
        for (var count = reader.ReadCount(); count > 0; count--)
        {
            reader.ReadCount();
            json.WriteStartObject();
            WriteCall(ref reader, json);
            json.WriteEndObject();
        }

        json.WriteEndArray();
    }

    private static void WriteVersion(ref MessagePackReader reader, Utf8JsonWriter json)
    {
        json.WriteNumber("position", reader.ReadInt64());
        json.WriteNumber("index", reader.ReadInt32());
    }

    // Null: it committed.
    private static void WriteAborted(ref MessagePackReader reader, Utf8JsonWriter json)
    {
        json.WritePropertyName("aborted");
        if (reader.TryReadNil())
        {
            json.WriteNullValue();
            return;
        }

        reader.ReadCount();
        json.WriteStartObject();
        json.WriteNumber("reason", reader.ReadInt32());
        json.WriteNumber("object", reader.ReadUInt64());
        if (!reader.TryReadNil())
        {
            json.WritePropertyName("key");
            WriteKey(reader.ReadBinary(), json);
        }

        WriteVersion(ref reader, json);
        json.WriteEndObject();
    }

    private static void WriteCheckpoint(ref MessagePackReader reader, Utf8JsonWriter json)
    {
        json.WriteNumber("oldestReader", reader.ReadInt32());
        json.WriteNumber("end", reader.ReadInt64());
        WriteNumbers("parts", ref reader, json);
        json.WriteNumber("check", reader.ReadUInt32());
        WriteNumbers("positions", ref reader, json);
    }

    private static void WriteNumbers(string name, ref MessagePackReader reader, Utf8JsonWriter json)
    {
        json.WriteStartArray(name);
        for (var count = reader.ReadCount(); count > 0; count--) json.WriteNumberValue(reader.ReadInt64());
        json.WriteEndArray();
    }

    // The parameters of a key stand one after the other.
    private static void WriteKey(ReadOnlyMemory<byte> key, Utf8JsonWriter json)
    {
        var reader = new MessagePackReader(key);
        json.WriteStartArray();
        while (!reader.End) WriteValue(ref reader, json);
        json.WriteEndArray();
    }

    // Writes the fields for which this version of the tool has no names.
    private static void WriteRest(ref MessagePackReader reader, Utf8JsonWriter json, int count)
    {
        if (count <= 0) return;
        json.WriteStartArray("more");
        for (; count > 0; count--) WriteValue(ref reader, json);
        json.WriteEndArray();
    }

    private static void WriteValue(ref MessagePackReader reader, Utf8JsonWriter json)
    {
        var start = reader.Position;
        reader.SkipValue();
        var value = reader.Sequence.Slice(start, reader.Position);
        if (TryToJson(value) is { } text)
        {
            json.WriteRawValue(text);
            return;
        }

        json.WriteStartObject();
        json.WriteBase64String("messagepack", value.ToArray());
        json.WriteEndObject();
    }

    /// <summary>Null for what JSON has no form for: NaN, or deeper nesting than a reader follows.</summary>
    private static string? TryToJson(ReadOnlySequence<byte> value)
    {
        try
        {
            var text = MessagePackSerializer.ConvertToJson(value, TangoFormatters.Options);
            using var parsed = JsonDocument.Parse(text);
            return text;
        }
        catch (Exception e) when (e is MessagePackSerializationException or JsonException)
        {
            return null;
        }
    }
}
