namespace Corfu.Client;

/// <summary>
/// The 90th percentile of the last few hundred samples, within a fifth: the 99th would hang on two or three of them, and so on whatever stalled the machine
/// then. It forgets, also by time: a process is slow while its code is new, a machine while it is busy. Updates may race and lose one another.
/// </summary>
internal sealed class LatencyEstimate(TimeProvider time, TimeSpan initial)
{
    private const int Window = 128;
    private const int BucketsPerOctave = 4;
    private const int Buckets = 25 * BucketsPerOctave;
    private const double Smallest = 1e-6;
    private static readonly TimeSpan MaxAge = TimeSpan.FromSeconds(1);

    // The window that is being filled, and the one before it.
    private int[] _now = new int[Buckets];
    private int[] _before = new int[Buckets];
    private long _began = time.GetTimestamp();
    private int _count;
    private double _seconds = initial.TotalSeconds;

    public TimeSpan P90 => TimeSpan.FromSeconds(Volatile.Read(ref _seconds));

    public void Add(TimeSpan sample)
    {
        var octaves = Math.Log2(Math.Max(sample.TotalSeconds, Smallest) / Smallest);
        _now[Math.Min(Buckets - 1, (int)(octaves * BucketsPerOctave))]++;

        // Nothing is known before some samples; then it is kept up to date in steps.
        var count = Interlocked.Increment(ref _count);
        if (count % (Window / 8) == 0) Volatile.Write(ref _seconds, Measure());
        if (count % Window != 0 && time.GetElapsedTime(Volatile.Read(ref _began)) < MaxAge) return;
        Volatile.Write(ref _began, time.GetTimestamp());
        (_now, _before) = (_before, _now);
        Array.Clear(_now);
    }

    private double Measure()
    {
        var (now, before) = (_now, _before);
        var left = 0;
        for (var i = 0; i < Buckets; i++) left += now[i] + before[i];

        // So many of the largest lie above the percentile.
        left /= 10;
        for (var i = Buckets - 1; i >= 0; i--)
        {
            left -= now[i] + before[i];
            if (left < 0) return Smallest * Math.Pow(2, (i + 1.0) / BucketsPerOctave);
        }

        return Smallest;
    }
}
