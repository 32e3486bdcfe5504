using System.Buffers;
using System.Buffers.Binary;
using System.Text;
using Craq.Hosting.Memcached;

namespace Corfu.Fuzz;

/// <summary>Connections of memcached's protocols. Any bytes are commands or errors, so nothing is documented.</summary>
public static class MemcachedTargets
{
    private const int MaxValue = 4096;

    private static readonly byte[][] s_lines =
    [
        "set k 7 60 5 noreply\r\nhello\r\nget k other\r\n"u8.ToArray(),
        "cas k 0 0 2 18446744073709551615\r\nhi\r\nincr n 3\r\ndecr n 1 noreply\r\n"u8.ToArray(),
        "gat 100 a b\r\ntouch a -1\r\ndelete a 0\r\nflush_all 5\r\n"u8.ToArray(),
        "verbosity 1\r\nstats\r\nversion\r\nquit\r\n"u8.ToArray(),
        Encoding.ASCII.GetBytes($"append k 0 0 5000\r\n{new string('x', 5000)}\r\nprepend k 0 0 1\r\nx\r\n"),
    ];

    public static IEnumerable<Target> All()
    {
        yield return new Target("memcached text", 60, s_lines, Lines);
        yield return new Target("memcached binary", 60,
            [
                [.. Frame(0x01, 8, "k", "hello"), .. Frame(0x0d, 0, "k", ""), .. Frame(0x0a, 0, "", "")],
                Frame(0x05, 20, "n", ""), Frame(0x1d, 4, "k", ""), Frame(0x0e, 0, "k", new string('x', 5000)),
                [.. Frame(0x08, 4, "", ""), .. Frame(0x21, 0, "PLAIN", "x"), .. Frame(0x10, 0, "", "")],
            ], Frames)
        { Repair = RepairFrame };
    }

    // Bytes arrive in two parts.
    private static void Lines(byte[] bytes)
    {
        var reader = new CommandReader(MaxValue);
        var buffer = new ReadOnlySequence<byte>(bytes.AsMemory(0, bytes.Length / 2));
        Read(ref buffer);
        buffer = new ReadOnlySequence<byte>(bytes.AsMemory((int)(bytes.Length / 2 - buffer.Length)));
        Read(ref buffer);

        void Read(ref ReadOnlySequence<byte> part)
        {
            while (reader.Read(ref part) is { } command)
            {
                if (command.Error is null) Check(command.Verb, command.Value);
            }
        }
    }

    private static void Frames(byte[] bytes)
    {
        var reader = new FrameReader(MaxValue);
        var buffer = new ReadOnlySequence<byte>(bytes.AsMemory(0, bytes.Length / 2));
        if (!Read(ref buffer)) return;
        buffer = new ReadOnlySequence<byte>(bytes.AsMemory((int)(bytes.Length / 2 - buffer.Length)));
        Read(ref buffer);

        // False: nothing is to be read behind the command.
        bool Read(ref ReadOnlySequence<byte> part)
        {
            while (reader.Read(ref part) is { } command)
            {
                if (command.IsMalformed) return false;
                if (command.Status == BinaryStatus.Ok) Check(command.Verb, command.Value);
            }

            return true;
        }
    }

    private static void Check(MemcachedVerb verb, ReadOnlyMemory<byte> value)
    {
        if (verb == MemcachedVerb.None || value.Length > MaxValue)
            throw new InvalidOperationException($"{verb} of {value.Length} bytes was accepted.");
    }

    private static byte[] Frame(byte opcode, byte extras, string key, string value)
    {
        byte[] body = [.. new byte[extras], .. Encoding.ASCII.GetBytes(key + value)];
        var header = new byte[BinaryHeader.Size];
        (header[0], header[1], header[4]) = (BinaryHeader.Request, opcode, extras);
        BinaryPrimitives.WriteUInt16BigEndian(header.AsSpan(2), (ushort)key.Length);
        BinaryPrimitives.WriteInt32BigEndian(header.AsSpan(8), body.Length);
        return [.. header, .. body];
    }

    private static void RepairFrame(byte[] frame)
    {
        frame[0] = BinaryHeader.Request;
        frame[1] %= 0x26;
        BinaryPrimitives.WriteInt32BigEndian(frame.AsSpan(8), frame.Length - BinaryHeader.Size);
    }
}
