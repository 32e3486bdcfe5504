using System.Numerics;

namespace JobScheduler.Workloads.Model;

/// <summary>
/// xoshiro256** (Blackman, Vigna 2021), seeded through SplitMix64. Own code, because a seed must mean the same jobs
/// under every version of .NET, and System.Random does not promise that.
/// </summary>
public sealed class ModelRandom
{
    private ulong _s0;
    private ulong _s1;
    private ulong _s2;
    private ulong _s3;

    public ModelRandom(ulong seed)
    {
        _s0 = SplitMix(ref seed);
        _s1 = SplitMix(ref seed);
        _s2 = SplitMix(ref seed);
        _s3 = SplitMix(ref seed);
    }

    public ulong NextBits()
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

    /// <summary>Uniform in the open interval (0, 1): neither end can come, so that its logarithm is finite.</summary>
    public double NextUnit() => ((NextBits() >> 12) + 0.5) * (1.0 / (1UL << 52));

    private static ulong SplitMix(ref ulong state)
    {
        ulong z = state += 0x9E3779B97F4A7C15;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
        return z ^ (z >> 31);
    }
}
