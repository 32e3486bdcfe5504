using System.Numerics;
using System.Text;

namespace Corfu.Simulation.Kernel;

/// <summary>xoshiro256** seeded through SplitMix64. Own code, because the framework's generator may change between
/// versions.</summary>
/// <remarks>Every purpose gets its own generator by <see cref="Split(string)"/>: one more draw in one must not shift
/// the others.</remarks>
public sealed class SimRandom
{
    private readonly ulong _seed;
    private ulong _s0, _s1, _s2, _s3;

    public SimRandom(ulong seed)
    {
        _seed = seed;
        ulong x = seed;
        _s0 = SplitMix(ref x);
        _s1 = SplitMix(ref x);
        _s2 = SplitMix(ref x);
        _s3 = SplitMix(ref x);
    }

    /// <summary>A generator that depends on this one's seed and the purpose only, never on how much was
    /// drawn.</summary>
    public SimRandom Split(string purpose)
    {
        ulong h = _seed ^ 0x9E3779B97F4A7C15UL;
        foreach (byte b in Encoding.UTF8.GetBytes(purpose))
        {
            h = (h ^ b) * 0x100000001B3UL;
            h ^= h >> 29;
        }

        return new SimRandom(SplitMix(ref h));
    }

    public ulong NextUInt64()
    {
        ulong result = BitOperations.RotateLeft(_s1 * 5, 7) * 9;
        ulong t = _s1 << 17;
        _s2 ^= _s0;
        _s3 ^= _s1;
        _s1 ^= _s2;
        _s0 ^= _s3;
        _s2 ^= t;
        _s3 = BitOperations.RotateLeft(_s3, 45);
        return result;
    }

    /// <summary>Uniform in [0, bound).</summary>
    public long Next(long bound)
    {
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(bound);
        return (long)Math.BigMul(NextUInt64(), (ulong)bound, out _);
    }

    public int Next(int bound) => (int)Next((long)bound);

    /// <summary>Uniform in [low, high], both included.</summary>
    public long Between(long low, long high) => low + Next(high - low + 1);

    public int Between(int low, int high) => (int)Between((long)low, high);

    public double NextDouble() => (NextUInt64() >> 11) * (1.0 / (1UL << 53));

    public bool Chance(double probability) => probability > 0 && NextDouble() < probability;

    /// <summary>Exponentially distributed with this mean, cut at twenty means.</summary>
    public long Exponential(long mean) => (long)Math.Min(mean * 20.0, -Math.Log(1 - NextDouble()) * mean);

    public T Pick<T>(IReadOnlyList<T> items) => items[Next(items.Count)];

    public void Fill(Span<byte> bytes)
    {
        for (int i = 0; i < bytes.Length; i++)
        {
            bytes[i] = (byte)NextUInt64();
        }
    }

    public void Shuffle<T>(IList<T> items)
    {
        for (int i = items.Count - 1; i > 0; i--)
        {
            int j = Next(i + 1);
            (items[i], items[j]) = (items[j], items[i]);
        }
    }

    private static ulong SplitMix(ref ulong x)
    {
        x += 0x9E3779B97F4A7C15UL;
        ulong z = x;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9UL;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBUL;
        return z ^ (z >> 31);
    }
}
