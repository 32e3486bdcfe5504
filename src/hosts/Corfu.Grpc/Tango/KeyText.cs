using System.Diagnostics.CodeAnalysis;
using MessagePack;
using Tango;

namespace Corfu.Grpc;

/// <summary>Keys of conflicts, as text. Both texts may stand in the trailers of a call, of which clients take some
/// kilobytes.</summary>
internal static class KeyText
{
    private const int MaxLength = 256;

    /// <returns>False: it is the whole object, or no text.</returns>
    public static bool TryRead(ObjectKey key, [NotNullWhen(true)] out string? text)
    {
        text = null;
        if (key.IsNone) return false;
        try
        {
            text = new MessagePackReader(key.Bytes.ToArray()).ReadString();
            if (text is null) return false;
            text = Cut(text);
            return true;
        }
        catch (Exception e) when (e is MessagePackSerializationException or EndOfStreamException)
        {
            return false;
        }
    }
    /// <summary>The beginning, not within a pair of surrogates.</summary>
    public static string Cut(string text)
    {
        if (text.Length <= MaxLength) return text;
        var end = char.IsHighSurrogate(text[MaxLength - 1]) ? MaxLength - 1 : MaxLength;
        return $"{text[..end]}...";
    }
}
