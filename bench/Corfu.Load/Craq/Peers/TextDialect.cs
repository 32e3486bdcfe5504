using System.Buffers;
using System.Text;

namespace Corfu.Load;

/// <summary>Requests and answers of a text protocol, as far as one get and one set need them.</summary>
internal abstract class TextDialect
{
    /// <summary>An answer that is no value: the write was taken.</summary>
    public const int Stored = -1;

    public static TextDialect Memcached { get; } = new MemcachedDialect();

    public static TextDialect Redis { get; } = new RedisDialect();

    public static TextDialect Named(string name) => name switch
    {
        "memcached" => Memcached,
        "redis" => Redis,
        _ => throw new FormatException($"'{name}' is no protocol: memcached or redis."),
    };

    public abstract byte[] Get(string key);

    public abstract byte[] Set(string key, ReadOnlySpan<byte> value);

    /// <summary>Takes one answer from the beginning of the buffer.</summary>
    /// <param name="outcome">The bytes of the value, or <see cref="Stored"/>.</param>
    /// <returns>False: more bytes are needed.</returns>
    /// <exception cref="CorfuException">The answer is an error, or a miss.</exception>
    public abstract bool TryTake(ref ReadOnlySequence<byte> buffer, out int outcome);

    private protected static bool TryLine(in ReadOnlySequence<byte> buffer, out string line,
        out ReadOnlySequence<byte> rest)
    {
        (line, rest) = ("", buffer);
        if (buffer.PositionOf((byte)'\n') is not { } end) return false;
        line = Encoding.ASCII.GetString(buffer.Slice(0, end)).TrimEnd('\r');
        rest = buffer.Slice(buffer.GetPosition(1, end));
        return true;
    }

    private protected static int Number(ReadOnlySpan<char> text) => int.TryParse(text, out var number) && number >= 0
        ? number
        : throw new CorfuException($"The server answered with a length '{text}'.");

    private protected static byte[] Join(string head, ReadOnlySpan<byte> value)
    {
        var bytes = new byte[head.Length + value.Length + 2];
        Encoding.ASCII.GetBytes(head, bytes);
        value.CopyTo(bytes.AsSpan(head.Length));
        "\r\n"u8.CopyTo(bytes.AsSpan(head.Length + value.Length));
        return bytes;
    }

    private sealed class MemcachedDialect : TextDialect
    {
        // Behind a value: its line's end, and END with its own.
        private const int Behind = 2 + 5;

        public override byte[] Get(string key) => Encoding.ASCII.GetBytes($"get {key}\r\n");

        public override byte[] Set(string key, ReadOnlySpan<byte> value) =>
            Join($"set {key} 0 0 {value.Length}\r\n", value);

        public override bool TryTake(ref ReadOnlySequence<byte> buffer, out int outcome)
        {
            outcome = Stored;
            if (!TryLine(buffer, out var line, out var rest)) return false;
            if (line.StartsWith("VALUE ", StringComparison.Ordinal))
            {
                outcome = Number(line.AsSpan(line.LastIndexOf(' ') + 1));
                if (rest.Length < outcome + Behind) return false;
                rest = rest.Slice(outcome + Behind);
            }
            else if (line != "STORED") throw new CorfuException($"The server answered '{line}'.");

            buffer = rest;
            return true;
        }
    }

    private sealed class RedisDialect : TextDialect
    {
        public override byte[] Get(string key) =>
            Encoding.ASCII.GetBytes($"*2\r\n$3\r\nGET\r\n${key.Length}\r\n{key}\r\n");

        public override byte[] Set(string key, ReadOnlySpan<byte> value) =>
            Join($"*3\r\n$3\r\nSET\r\n${key.Length}\r\n{key}\r\n${value.Length}\r\n", value);

        public override bool TryTake(ref ReadOnlySequence<byte> buffer, out int outcome)
        {
            outcome = Stored;
            if (!TryLine(buffer, out var line, out var rest)) return false;
            if (line.StartsWith('$') && line != "$-1")
            {
                outcome = Number(line.AsSpan(1));
                if (rest.Length < outcome + 2) return false;
                rest = rest.Slice(outcome + 2);
            }
            else if (line != "+OK") throw new CorfuException($"The server answered '{line}'.");

            buffer = rest;
            return true;
        }
    }
}
