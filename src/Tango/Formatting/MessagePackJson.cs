using System.Text;
using System.Text.Encodings.Web;
using System.Text.Json;

namespace Tango.Formatting;

/// <summary>
/// MessagePack values as JSON, for tools that look at a log without the types that wrote it. One way only: numbers and
/// texts keep their meaning; binary becomes <c>{"base64":...}</c>, a timestamp <c>{"time":...}</c>, other extensions
/// <c>{"ext":n,"base64":...}</c>, and the keys of a map become text.
/// </summary>
public static class MessagePackJson
{
    private static readonly JsonWriterOptions Options = new() { Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping };

    /// <summary>All values in <paramref name="bytes"/>, separated by spaces.</summary>
    /// <exception cref="TangoFormatException">The bytes are damaged.</exception>
    public static string ToText(ReadOnlySpan<byte> bytes)
    {
        var reader = new MessagePackReader(bytes);
        var text = new StringBuilder();
        while (!reader.End)
        {
            if (text.Length > 0) text.Append(' ');
            text.Append(NextToText(ref reader));
        }
        return text.ToString();
    }

    /// <summary>Reads the next value and writes it.</summary>
    public static void Write(ref MessagePackReader reader, Utf8JsonWriter json)
    {
        switch (reader.NextType)
        {
            case MessagePackType.Nil:
                reader.TryReadNil();
                json.WriteNullValue();
                break;
            case MessagePackType.Boolean:
                json.WriteBooleanValue(reader.ReadBoolean());
                break;
            case MessagePackType.Integer:
                if (reader.NextIsNegative) json.WriteNumberValue(reader.ReadInt64());
                else json.WriteNumberValue(reader.ReadUInt64());
                break;
            case MessagePackType.Float:
                double number = reader.ReadDouble();
                if (double.IsFinite(number)) json.WriteNumberValue(number);
                else json.WriteStringValue(number.ToString(System.Globalization.CultureInfo.InvariantCulture));
                break;
            case MessagePackType.String:
                json.WriteStringValue(reader.ReadString());
                break;
            case MessagePackType.Binary:
                json.WriteStartObject();
                json.WriteBase64String("base64", reader.ReadBinary());
                json.WriteEndObject();
                break;
            case MessagePackType.Array:
                WriteArray(ref reader, json);
                break;
            case MessagePackType.Map:
                WriteMap(ref reader, json);
                break;
            default:
                WriteExtension(ref reader, json);
                break;
        }
    }

    private static void WriteArray(ref MessagePackReader reader, Utf8JsonWriter json)
    {
        int count = reader.ReadArrayHeader();
        reader.Enter();
        json.WriteStartArray();
        for (int i = 0; i < count; i++) Write(ref reader, json);
        json.WriteEndArray();
        reader.Leave();
    }

    private static void WriteMap(ref MessagePackReader reader, Utf8JsonWriter json)
    {
        int count = reader.ReadMapHeader();
        reader.Enter();
        json.WriteStartObject();
        for (int i = 0; i < count; i++)
        {
            bool isText = reader.NextType == MessagePackType.String;
            json.WritePropertyName(isText ? reader.ReadString()! : NextToText(ref reader));
            Write(ref reader, json);
        }
        json.WriteEndObject();
        reader.Leave();
    }

    private static void WriteExtension(ref MessagePackReader reader, Utf8JsonWriter json)
    {
        json.WriteStartObject();
        if (reader.NextIsTimestamp)
        {
            json.WriteString("time", reader.ReadDateTime());
        }
        else
        {
            ReadOnlySpan<byte> body = reader.ReadExtension(out sbyte type);
            json.WriteNumber("ext", type);
            json.WriteBase64String("base64", body);
        }
        json.WriteEndObject();
    }

    private static string NextToText(ref MessagePackReader reader)
    {
        using var stream = new MemoryStream();
        using (var json = new Utf8JsonWriter(stream, Options)) Write(ref reader, json);
        return Encoding.UTF8.GetString(stream.ToArray());
    }
}
