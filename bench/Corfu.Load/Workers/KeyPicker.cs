namespace Corfu.Load;

/// <summary>Keys from 0 on, evenly or by a Zipf distribution, where the key at rank r (from 1) has the weight
/// r^-0.99.</summary>
internal sealed class KeyPicker
{
    public const double Exponent = 0.99;

    private readonly int _keys;
    private readonly double[]? _cumulative;

    public KeyPicker(int keys, bool zipf)
    {
        _keys = keys;
        if (!zipf) return;
        _cumulative = new double[keys];
        var sum = 0.0;
        for (var i = 0; i < keys; i++) _cumulative[i] = sum += Math.Pow(i + 1, -Exponent);
    }

    public int Next(Random random)
    {
        if (_cumulative is null) return random.Next(_keys);
        var found = Array.BinarySearch(_cumulative, random.NextDouble() * _cumulative[^1]);
        return Math.Min(found < 0 ? ~found : found + 1, _keys - 1);
    }

    /// <summary>Different keys; there must be that many.</summary>
    public void Fill(Random random, Span<int> keys)
    {
        for (var i = 0; i < keys.Length; i++)
        {
            do keys[i] = Next(random);
            while (keys[..i].Contains(keys[i]));
        }
    }
}
