using System.Text;

namespace Corfu.FaultRuns.Objects.Clients;

/// <summary>Values as bytes. The value of a register carries bytes that follow from its text, up to some kilobytes, so
/// that a damaged or mixed value is no value that a client wrote.</summary>
public static class ValueText
{
    private const char Register = 'v';
    private const byte Separator = (byte)'|';
    private const int Some = 6000;

    // Such values are relayed where the chain has that option.
    private const int Large = 10_000;

    /// <summary>The value of a register, by the name of the write.</summary>
    public static string Of(string name) => Register + name;

    public static byte[] Encode(string text)
    {
        var bytes = Encoding.UTF8.GetBytes(text);
        if (!text.StartsWith(Register)) return bytes;
        var hash = 2166136261u;
        foreach (var one in bytes) hash = (hash ^ one) * 16777619;
        // Most values are small.
        var padding = (int)((hash % 16) switch
        {
            0 => Large + (hash / 16 % Large),
            < 5 => hash / 16 % Some,
            _ => hash / 16 % 64,
        });
        var padded = new byte[bytes.Length + 1 + padding];
        bytes.CopyTo(padded, 0);
        padded[bytes.Length] = Separator;
        padded.AsSpan(bytes.Length + 1).Fill((byte)('a' + (hash % 26)));
        return padded;
    }

    /// <returns>The text; behind the word "damaged" that of a value which no client writes.</returns>
    public static string Decode(ReadOnlySpan<byte> value)
    {
        var end = value.IndexOf(Separator);
        var text = Encoding.UTF8.GetString(end < 0 ? value : value[..end]);
        return value.SequenceEqual(Encode(text)) ? text : $"damaged {text}";
    }
}
