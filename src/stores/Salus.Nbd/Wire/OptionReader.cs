using System.Buffers.Binary;
using System.Text;

namespace Salus.Nbd.Wire;

/// <summary>Reads the data of an option from its beginning. A read that finds too little changes nothing.</summary>
internal ref struct OptionReader(ReadOnlySpan<byte> data)
{
    // Strings are to be UTF-8; others are refused.
    private static readonly UTF8Encoding s_strict = new(false, throwOnInvalidBytes: true);

    private ReadOnlySpan<byte> _left = data;

    public readonly bool IsAtEnd => _left.IsEmpty;

    public bool TryRead(out ushort value)
    {
        if (!BinaryPrimitives.TryReadUInt16BigEndian(_left, out value)) return false;
        _left = _left[2..];
        return true;
    }

    public bool TryRead(out uint value)
    {
        if (!BinaryPrimitives.TryReadUInt32BigEndian(_left, out value)) return false;
        _left = _left[4..];
        return true;
    }

    /// <summary>A length of 32 bits, then the string.</summary>
    public bool TryReadString(out string text)
    {
        text = "";
        if (!BinaryPrimitives.TryReadUInt32BigEndian(_left, out var length) || length > _left.Length - 4
            || !TryDecode(_left.Slice(4, (int)length), out text)) return false;
        _left = _left[(4 + (int)length)..];
        return true;
    }

    public static bool TryDecode(ReadOnlySpan<byte> bytes, out string text)
    {
        try
        {
            text = s_strict.GetString(bytes);
            return true;
        }
        catch (DecoderFallbackException)
        {
            text = "";
            return false;
        }
    }
}
