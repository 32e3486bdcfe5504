using System.Buffers;
using System.Buffers.Binary;
using System.IO.Pipelines;
using System.Text;

namespace Craq.Hosting.Memcached;

/// <summary>Answers of memcached's binary protocol: a header as the request's, with the status in place of the vbucket,
/// then extras, key and value.</summary>
internal static class BinaryAnswers
{
    public static void Answer(this PipeWriter output, BinaryCommand command, BinaryStatus status = BinaryStatus.Ok,
        ObjectVersion version = default, ReadOnlySpan<byte> extras = default, ReadOnlySpan<byte> key = default,
        ReadOnlySpan<byte> value = default)
    {
        var length = BinaryHeader.Size + extras.Length + key.Length;
        var span = output.GetSpan(length)[..length];
        span.Clear();
        span[0] = BinaryHeader.Response;
        span[1] = command.Header.Opcode;
        BinaryPrimitives.WriteUInt16BigEndian(span[2..], (ushort)key.Length);
        span[4] = (byte)extras.Length;
        BinaryPrimitives.WriteUInt16BigEndian(span[6..], (ushort)status);
        BinaryPrimitives.WriteInt32BigEndian(span[8..], extras.Length + key.Length + value.Length);
        BinaryPrimitives.WriteUInt32BigEndian(span[12..], command.Header.Opaque);
        BinaryPrimitives.WriteInt64BigEndian(span[16..], version.Value);
        extras.CopyTo(span[BinaryHeader.Size..]);
        key.CopyTo(span[(BinaryHeader.Size + extras.Length)..]);
        output.Advance(length);
        output.Write(value);
    }

    /// <summary>The object with its flags and version; a miss is left out of a quiet retrieval.</summary>
    public static void Found(this PipeWriter output, BinaryCommand command, in StoredObject found)
    {
        var key = command.Form.HasKey ? command.Key.Bytes.Span : default;
        if (found.IsFound)
        {
            Span<byte> flags = stackalloc byte[4];
            BinaryPrimitives.WriteUInt32BigEndian(flags, found.Flags);
            output.Answer(command, BinaryStatus.Ok, found.Version, flags, key, found.Value.Span);
        }
        else if (!command.Form.IsQuiet && command.Form.HasKey)
        {
            output.Answer(command, BinaryStatus.NotFound, key: key);
        }
        else if (!command.Form.IsQuiet)
        {
            output.Error(command, BinaryStatus.NotFound);
        }
    }

    /// <summary>An error, with a text for people.</summary>
    public static void Error(this PipeWriter output, BinaryCommand command, BinaryStatus status, string? text = null) =>
        output.Answer(command, status, value: Encoding.UTF8.GetBytes(text ?? TextOf(status)));

    private static string TextOf(BinaryStatus status) => status switch
    {
        BinaryStatus.NotFound => "Not found",
        BinaryStatus.Exists => "Data exists for key.",
        BinaryStatus.TooLarge => "Too large.",
        BinaryStatus.Invalid => "Invalid arguments",
        BinaryStatus.NotStored => "Not stored.",
        BinaryStatus.NotANumber => "Non-numeric server-side value for incr or decr",
        BinaryStatus.UnknownCommand => "Unknown command",
        _ => "Error of the server",
    };
}
