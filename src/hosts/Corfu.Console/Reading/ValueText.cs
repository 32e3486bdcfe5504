using System.Buffers;
using MessagePack;
using Tango.Formatting;

namespace Corfu.WebConsole.Reading;

/// <summary>Keys and arguments as text, without the types that wrote them.</summary>
internal static class ValueText
{
    private const int Longest = 160;

    /// <summary>The parameters of a key stand one after the other.</summary>
    public static string Key(byte[]? key)
    {
        if (key is null) return "";
        try
        {
            var reader = new MessagePackReader(key);
            return Join(ref reader);
        }
        catch (Exception e) when (StrictMessagePack.IsDamage(e))
        {
            return Convert.ToHexStringLower(key);
        }
    }

    /// <summary>Keys of one call.</summary>
    public static string Keys(ImmutableArray<byte[]>? keys) =>
        keys is null ? "" : string.Join("; ", keys.Value.Select(Key));

    /// <summary>The text between the brackets of a call.</summary>
    public static string Arguments(TangoCallRecord call)
    {
        if (call.Arguments.IsEmpty) return call.ArgumentBytes == 0 ? "" : $"{call.ArgumentBytes} bytes";
        try
        {
            var reader = new MessagePackReader(call.Arguments);
            reader.ReadCount();
            return Join(ref reader);
        }
        catch (Exception e) when (StrictMessagePack.IsDamage(e))
        {
            return $"{call.ArgumentBytes} bytes";
        }
    }

    private static string Join(ref MessagePackReader reader)
    {
        var parts = new List<string>();
        while (!reader.End) parts.Add(Next(ref reader));
        var text = string.Join(", ", parts);
        return text.Length <= Longest ? text : $"{text[..Longest]}…";
    }

    // Strings stand as they are, which is often JSON; all else in the form of JSON.
    private static string Next(ref MessagePackReader reader)
    {
        if (reader.NextMessagePackType == MessagePackType.String) return reader.ReadText() ?? "";
        var start = reader.Position;
        reader.SkipValue();
        return MessagePackSerializer.ConvertToJson(
            reader.Sequence.Slice(start, reader.Position), TangoFormatters.Options);
    }
}
