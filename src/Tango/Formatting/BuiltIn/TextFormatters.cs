using System.Buffers.Text;
using System.Globalization;

namespace Tango.Formatting;

/// <summary>A GUID is its 36 characters in lower case, as MessagePack-CSharp's standard resolver writes it.</summary>
internal sealed class GuidFormatter : ITangoFormatter<Guid>
{
    private const int TextLength = 36;

    public bool IsVersionKey => true;

    public void Write(ref MessagePackWriter writer, Guid value)
    {
        Span<byte> text = stackalloc byte[TextLength];
        value.TryFormat(text, out _, "D");
        writer.WriteStringHeader(TextLength);
        writer.WriteRaw(text);
    }

    public Guid Read(ref MessagePackReader reader)
    {
        ReadOnlySpan<byte> text = reader.ReadUtf8();
        if (Utf8Parser.TryParse(text, out Guid value, out int used, 'D') && used == text.Length) return value;
        throw reader.Error(FormatError.Invalid, "The text is not a GUID");
    }
}

/// <summary>A decimal is its invariant text, trailing zeros kept: 1.0 and 1.00 are equal but differ in bytes.</summary>
internal sealed class DecimalFormatter : ITangoFormatter<decimal>
{
    private const int MaxText = 32;

    public void Write(ref MessagePackWriter writer, decimal value)
    {
        Span<byte> text = stackalloc byte[MaxText];
        value.TryFormat(text, out int length, provider: CultureInfo.InvariantCulture);
        writer.WriteStringHeader(length);
        writer.WriteRaw(text[..length]);
    }

    public decimal Read(ref MessagePackReader reader)
    {
        ReadOnlySpan<byte> text = reader.ReadUtf8();
        if (decimal.TryParse(text, NumberStyles.Float, CultureInfo.InvariantCulture, out decimal value)) return value;
        throw reader.Error(FormatError.Invalid, "The text is not a decimal");
    }
}
