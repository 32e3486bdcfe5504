namespace Corfu.Fuzz;

/// <summary>SplitMix64: one of its own for every input, so that any input can be made again from seed, target and
/// number alone.</summary>
public struct FuzzRandom(ulong seed)
{
    private ulong _state = seed;

    public static FuzzRandom For(int seed, string target, long input)
    {
        var hash = unchecked((ulong)seed * 0x9E3779B97F4A7C15);
        foreach (var c in target) hash = unchecked((hash ^ c) * 0x100000001B3);
        var random = new FuzzRandom(hash ^ unchecked((ulong)input * 0xD6E8FEB86659FD93));
        random.Next();
        return random;
    }

    public ulong Next()
    {
        var z = _state = unchecked(_state + 0x9E3779B97F4A7C15);
        z = unchecked((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9);
        z = unchecked((z ^ (z >> 27)) * 0x94D049BB133111EB);
        return z ^ (z >> 31);
    }

    /// <summary>From 0 to below <paramref name="limit"/>, which is positive.</summary>
    public int Next(int limit) => (int)(Next() % (ulong)limit);

    public bool OneIn(int n) => Next(n) == 0;
}
