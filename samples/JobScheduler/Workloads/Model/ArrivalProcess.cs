namespace JobScheduler.Workloads.Model;

/// <summary>
/// Arrivals with a daily cycle (Lublin, Feitelson 2003, section on the arrival process). A gamma distribution gives the
/// logarithm of the time between arrivals in the rush hours. A second one over the 48 half hours of the day gives each
/// half hour's weight; a quiet half hour costs fewer points than a busy one, so the same points carry an arrival
/// further at night.
/// </summary>
public sealed class ArrivalProcess
{
    private const int Buckets = 48;
    private const int SecondsPerBucket = 24 * 3600 / Buckets;

    // The day is cut where few jobs arrive, so that the fitted density covers one whole cycle.
    private const int CycleStart = 11;

    // Longer gaps than exp(13) s (five days) are drawn again.
    private const double MaxLogGap = 13;

    private static readonly GammaDistribution LogGap = new(10.2303 * 1.0225, 0.4871);
    private static readonly GammaDistribution DailyCycle = new(8.1737, 3.9631);

    private readonly ModelRandom _random;
    private readonly double[] _weights = DailyWeights();
    private int _bucket;
    private double _points;
    private double _bucketsPassed;

    /// <summary>The process starts at midnight.</summary>
    public ArrivalProcess(ModelRandom random) => _random = random;

    /// <summary>Weight of each half hour of the day, midnight first; their mean is 1.</summary>
    public static double[] DailyWeights()
    {
        var weights = new double[Buckets];
        for (int i = CycleStart; i < CycleStart + Buckets; i++)
            weights[(i - 1) % Buckets] = DailyCycle.Cumulative(i + 0.5) - DailyCycle.Cumulative(i - 0.5);
        double mean = weights.Average();
        return [.. weights.Select(weight => weight / mean)];
    }

    /// <summary>Seconds from the start to the next arrival; never decreases.</summary>
    public double Next()
    {
        double logGap;
        do
            logGap = LogGap.Sample(_random);
        while (logGap > MaxLogGap);
        _points += Math.Exp(logGap) / SecondsPerBucket;
        while (_points > _weights[_bucket])
        {
            _points -= _weights[_bucket];
            _bucket = (_bucket + 1) % Buckets;
            _bucketsPassed++;
        }

        return (_bucketsPassed + _points / _weights[_bucket]) * SecondsPerBucket;
    }
}
