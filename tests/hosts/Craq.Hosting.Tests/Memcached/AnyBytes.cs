using System.Text;

namespace Craq.Hosting.Tests.Memcached;

/// <summary>Bytes that are nearly commands.</summary>
internal static class AnyBytes
{
    private static readonly string[] s_words =
        ["get", "set", "cas", "incr", "gat", "k", "0", "5", "-1", "noreply", "99999999999", "\r\n", "\n", " ", "x"];

    /// <summary>Frames of any opcode whose lengths mostly fit, some of them with a byte changed or cut off.</summary>
    public static byte[] Binary(Random random)
    {
        var bytes = new List<byte>();
        for (var i = random.Next(1, 6); i > 0; i--)
        {
            var opcode = (byte)(random.Next(8) == 0 ? random.Next(256) : random.Next(0x26));
            var extras = new byte[new[] { 0, 4, 8, 20 }[random.Next(4)]];
            random.NextBytes(extras);
            var value = new byte[random.Next(3) == 0 ? random.Next(200) : 0];
            random.NextBytes(value);
            var key = new string('k', random.Next(12) == 0 ? random.Next(300) : random.Next(2));
            var frame = BinaryFrame.Of(opcode, key, extras, value, random.Next(3) == 0 ? random.NextInt64() : 0);
            if (random.Next(8) == 0) frame[random.Next(frame.Length)] = (byte)random.Next(256);
            bytes.AddRange(frame);
        }

        return [.. bytes.Take(random.Next(6) == 0 ? random.Next(bytes.Count) : bytes.Count)];
    }

    public static byte[] Text(Random random)
    {
        var text = string.Join(random.Next(3) == 0 ? "" : " ",
            Enumerable.Range(0, random.Next(30)).Select(_ => s_words[random.Next(s_words.Length)]));
        var bytes = Encoding.ASCII.GetBytes(text);
        if (random.Next(2) == 0 && bytes.Length > 0) bytes[random.Next(bytes.Length)] = (byte)random.Next(256);
        return bytes;
    }
}
