using System.Buffers;
using System.Buffers.Text;
using System.IO.Pipelines;
using System.Text;

namespace Craq.Hosting.Memcached;

/// <summary>Answers of memcached's text protocol.</summary>
internal static class TextAnswers
{
    // Bytes of a value's line besides the key: words, spaces and three numbers.
    private const int LineRoom = 64;

    /// <summary>Writes text as one line: control characters in it become spaces.</summary>
    public static void Line(this PipeWriter output, string text)
    {
        var span = output.GetSpan(Encoding.UTF8.GetMaxByteCount(text.Length));
        var length = Encoding.UTF8.GetBytes(text, span);
        foreach (ref var b in span[..length])
        {
            if (b < 0x20) b = (byte)' ';
        }

        output.Advance(length);
        output.Write("\r\n"u8);
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
