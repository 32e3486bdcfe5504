namespace Corfu.Load;

/// <summary>
/// Counts of nanoseconds in log-linear buckets: 64 per power of two, so a value is off by at most 1.6 %. Not
/// thread-safe; each caller has its own and they are added up at the end.
/// </summary>
internal sealed class LatencyHistogram
{
    private const int SubBits = 6;
    private const int SubBuckets = 1 << SubBits;

    private readonly long[] _counts = new long[(64 - SubBits) * SubBuckets];

    public long Count { get; private set; }

    public void Record(long nanoseconds)
    {
        _counts[IndexOf(Math.Max(0, nanoseconds))]++;
        Count++;
    }

    public void Add(LatencyHistogram other)
    {
        for (var i = 0; i < _counts.Length; i++) _counts[i] += other._counts[i];
        Count += other.Count;
    }

    /// <summary>The value in nanoseconds that <paramref name="fraction"/> of the samples do not exceed; 0 without
    /// samples.</summary>
    public double Quantile(double fraction)
    {
        if (Count == 0) return 0;
        var rank = Math.Max(1, (long)Math.Ceiling(fraction * Count));
        long seen = 0;
        for (var i = 0; i < _counts.Length; i++)
        {
            seen += _counts[i];
            if (seen >= rank) return MiddleOf(i);
        }

        return MiddleOf(_counts.Length - 1);
    }

    /// <summary>Index and count of every bucket in use: how one process hands its samples to another.</summary>
    public long[] ToSparse()
    {
        var sparse = new List<long>();
        for (var i = 0; i < _counts.Length; i++)
        {
            if (_counts[i] == 0) continue;
            sparse.Add(i);
            sparse.Add(_counts[i]);
        }

        return [.. sparse];
    }

    public static LatencyHistogram FromSparse(long[] sparse)
    {
        var histogram = new LatencyHistogram();
        for (var i = 0; i + 1 < sparse.Length; i += 2)
        {
            histogram._counts[sparse[i]] += sparse[i + 1];
            histogram.Count += sparse[i + 1];
        }

        return histogram;
    }

    private static int IndexOf(long value)
    {
        if (value < SubBuckets) return (int)value;
        var shift = 63 - SubBits - System.Numerics.BitOperations.LeadingZeroCount((ulong)value);
        return ((shift + 1) << SubBits) + (int)((value >> shift) - SubBuckets);
    }

    private static double MiddleOf(int index)
    {
        if (index < SubBuckets) return index;
        var shift = (index >> SubBits) - 1;
        var low = (long)((index & (SubBuckets - 1)) + SubBuckets) << shift;
        return low + (1L << shift) / 2.0;
    }
}
