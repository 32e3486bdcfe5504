using MessagePack.Formatters;
using Tango.Records;

namespace Tango.Formatting;

/// <summary><c>[position, record, call]</c>.</summary>
public sealed class PlaceFormatter : IMessagePackFormatter<LogPlace>
{
    private const int Length = 3;

    /// <exception cref="TangoFormatException">The call is not in the log yet.</exception>
    public void Serialize(ref MessagePackWriter writer, LogPlace value, MessagePackSerializerOptions options)
    {
        if (value.IsPending)
            throw new TangoFormatException(
                "The place of a call that its transaction has not written yet cannot be stored or sent");
        writer.WriteArrayHeader(Length);
        writer.Write(value.Position.Offset);
        writer.Write(value.Record);
        writer.Write(value.Call);
    }

    public LogPlace Deserialize(ref MessagePackReader reader, MessagePackSerializerOptions options)
    {
        reader.ReadArrayHeader(Length);
        var (position, record, call) =
            (RecordFormat.ReadPosition(ref reader), reader.ReadInt32(), reader.ReadInt32());
        // Above the last position that a log can have stands what is pending.
        return position.Offset < long.MaxValue && record >= 0 && call >= 0
            ? new LogPlace(position, record, call)
            : throw new TangoFormatException($"{position.Offset}, {record}, {call} are no place");
    }
}
