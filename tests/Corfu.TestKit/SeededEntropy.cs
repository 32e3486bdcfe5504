namespace Corfu.TestKit;

/// <summary>The same identities in every run.</summary>
public sealed class SeededEntropy(int seed) : IEntropy
{
    private readonly Lock _gate = new();
    private readonly Random _random = new(seed);

    public Guid NewGuid()
    {
        var bytes = new byte[16];
        lock (_gate) _random.NextBytes(bytes);
        return new Guid(bytes);
    }

    public double NextDouble()
    {
        lock (_gate) return _random.NextDouble();
    }
}
