using System.Buffers.Binary;

namespace Corfu.Fuzz;

/// <summary>Changes samples where formats are sensitive: lengths and counts, boundaries of parts, repetition, and what
/// comes from elsewhere.</summary>
public static class Mutator
{
    private const int MaxLength = 1 << 16;

    private static readonly long[] Extremes =
        [0, 1, -1, 2, 4, 8, 16, 255, 256, 65535, 65536, int.MaxValue, int.MinValue, long.MaxValue, long.MinValue,
            0x7FFF, 1 << 20, (8 << 20) + 1];

    public static byte[] Mutate(ref FuzzRandom random, IReadOnlyList<byte[]> samples)
    {
        var bytes = samples[random.Next(samples.Count)].ToList();
        if (random.OneIn(40)) bytes = [.. Noise(ref random, 1 + random.Next(200))];
        for (var changes = 1 + random.Next(4); changes > 0; changes--) Change(ref random, bytes, samples);
        if (bytes.Count > MaxLength) bytes.RemoveRange(MaxLength, bytes.Count - MaxLength);
        return [.. bytes];
    }

    private static void Change(ref FuzzRandom random, List<byte> bytes, IReadOnlyList<byte[]> samples)
    {
        var kind = random.Next(9);
        if (bytes.Count == 0) kind = 6;
        switch (kind)
        {
            case 0:
                bytes[random.Next(bytes.Count)] ^= (byte)(1 << random.Next(8));
                break;
            case 1:
                bytes[random.Next(bytes.Count)] = (byte)random.Next(256);
                break;
            case 2 or 3:
                WriteNumber(ref random, bytes);
                break;
            case 4:
                bytes.RemoveRange(random.Next(bytes.Count), 0);
                bytes.RemoveRange(bytes.Count - 1 - random.Next(bytes.Count), 1);
                break;
            case 5:
                var cut = random.Next(bytes.Count);
                bytes.RemoveRange(cut,
                    random.OneIn(2) ? bytes.Count - cut : Math.Min(1 + random.Next(16), bytes.Count - cut));
                break;
            case 6:
                bytes.InsertRange(random.Next(bytes.Count + 1), Noise(ref random, 1 + random.Next(24)));
                break;
            case 7:
                var from = random.Next(bytes.Count);
                var part = bytes.GetRange(from, Math.Min(1 + random.Next(64), bytes.Count - from));
                for (var copies = random.OneIn(8) ? 100 : 1; copies > 0 && bytes.Count < MaxLength; copies--)
                    bytes.InsertRange(random.Next(bytes.Count + 1), part);
                break;
            default:
                var other = samples[random.Next(samples.Count)];
                if (other.Length == 0) break;
                var start = random.Next(other.Length);
                var splice = other.AsSpan(start, Math.Min(1 + random.Next(128), other.Length - start)).ToArray();
                var at = random.Next(bytes.Count);
                for (var i = 0; i < splice.Length && at + i < bytes.Count; i++) bytes[at + i] = splice[i];
                break;
        }
    }

    /// <summary>An extreme, or a little more or less than what is there, in any of the widths that formats
    /// use.</summary>
    private static void WriteNumber(ref FuzzRandom random, List<byte> bytes)
    {
        var width = 1 << random.Next(4);
        if (bytes.Count < width) return;
        var at = random.Next(bytes.Count - width + 1);
        if (random.OneIn(2)) at -= at % width;
        Span<byte> number = stackalloc byte[8];
        number.Clear();
        for (var i = 0; i < width; i++) number[i] = bytes[at + i];
        var was = BinaryPrimitives.ReadInt64LittleEndian(number);
        var value = random.Next(3) switch
        {
            0 => unchecked(was + random.Next(5) - 2),
            1 => unchecked((long)random.Next()),
            _ => Extremes[random.Next(Extremes.Length)],
        };
        BinaryPrimitives.WriteInt64LittleEndian(number, value);
        if (random.OneIn(8)) number[..width].Reverse();
        for (var i = 0; i < width; i++) bytes[at + i] = number[i];
    }

    private static byte[] Noise(ref FuzzRandom random, int length)
    {
        var noise = new byte[length];
        for (var i = 0; i < length; i++) noise[i] = (byte)random.Next(256);
        return noise;
    }
}
