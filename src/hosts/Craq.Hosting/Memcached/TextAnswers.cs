using System.Buffers;
using System.Buffers.Text;
using System.IO.Pipelines;

namespace Craq.Hosting.Memcached;

/// <summary>Answers of memcached's text protocol.</summary>
internal static class TextAnswers
{
    // Bytes of a value's line besides the key: words, spaces and three numbers.
    private const int LineRoom = 64;

    public static void Line(this PipeWriter output, ReadOnlySpan<byte> text)
    {
        output.Write(text);
        output.Write("\r\n"u8);
    }

    /// <summary>Text of one line, whatever it holds.</summary>
    public static void Line(this PipeWriter output, string text)
    {
        var bytes = System.Text.Encoding.UTF8.GetBytes(text);
        foreach (ref var b in bytes.AsSpan())
        {
            if (b < 0x20) b = (byte)' ';
        }

        output.Line(bytes);
    }

    public static void Number(this PipeWriter output, ulong number)
    {
        var span = output.GetSpan(24);
        Utf8Formatter.TryFormat(number, span, out var used);
        "\r\n"u8.CopyTo(span[used..]);
        output.Advance(used + 2);
    }

    /// <summary><c>VALUE key flags length [version]</c> and the data block.</summary>
    public static void Value(this PipeWriter output, ObjectKey key, in StoredObject found, bool withVersion)
    {
        var span = output.GetSpan(LineRoom + key.Bytes.Length);
        var at = Put(span, 0, "VALUE "u8);
        at = Put(span, at, key.Bytes.Span);
        at = Put(span, at, found.Flags);
        at = Put(span, at, (ulong)found.Value.Length);
        if (withVersion) at = Put(span, at, (ulong)found.Version.Value);
        at = Put(span, at, "\r\n"u8);
        output.Advance(at);
        output.Write(found.Value.Span);
        output.Write("\r\n"u8);
    }

    private static int Put(Span<byte> span, int at, ReadOnlySpan<byte> text)
    {
        text.CopyTo(span[at..]);
        return at + text.Length;
    }

    private static int Put(Span<byte> span, int at, ulong number)
    {
        span[at] = (byte)' ';
        Utf8Formatter.TryFormat(number, span[(at + 1)..], out var used);
        return at + 1 + used;
    }
}
