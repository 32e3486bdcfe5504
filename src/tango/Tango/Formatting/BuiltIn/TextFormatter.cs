using MessagePack.Formatters;

namespace Tango.Formatting;

/// <summary>Text that is not Unicode is refused: the library would replace it, and the log hold another text.</summary>
public sealed class TextFormatter : IMessagePackFormatter<string?>
{
    public void Serialize(ref MessagePackWriter writer, string? value, MessagePackSerializerOptions options) =>
        writer.WriteText(value);

    public string? Deserialize(ref MessagePackReader reader, MessagePackSerializerOptions options) =>
        reader.ReadText();
}
