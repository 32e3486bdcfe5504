using MessagePack.Formatters;

namespace Tango.Formatting;

/// <summary>Resolver by which formatters find those of their parts.</summary>
internal sealed class TangoResolver : IFormatterResolver
{
    public static TangoResolver Instance { get; } = new();

    public IMessagePackFormatter<T>? GetFormatter<T>() => TangoFormatters.GetOrNull<T>();
}
