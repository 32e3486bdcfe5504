using System.Diagnostics.CodeAnalysis;
using MessagePack;
using Tango;

namespace Corfu.Grpc;

/// <summary>Keys of conflicts, as text.</summary>
internal static class KeyText
{
    /// <returns>False: it is the whole object, or no text.</returns>
    public static bool TryRead(ObjectKey key, [NotNullWhen(true)] out string? text)
    {
        text = null;
        if (key.IsNone) return false;
        try
        {
            text = new MessagePackReader(key.Bytes.ToArray()).ReadString();
            return text is not null;
        }
        catch (Exception e) when (e is MessagePackSerializationException or EndOfStreamException)
        {
            return false;
        }
    }
}
