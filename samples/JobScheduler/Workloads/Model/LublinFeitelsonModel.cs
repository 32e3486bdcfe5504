namespace JobScheduler.Workloads.Model;

/// <summary>
/// The workload model of U. Lublin and D. G. Feitelson, "The workload on parallel supercomputers: modeling the
/// characteristics of rigid jobs", Journal of Parallel and Distributed Computing 63(11), 2003, with its parameters for
/// all jobs together (interactive and batch not told apart). Sizes come from a two-stage uniform distribution over
/// log2(nodes) with serial jobs and powers of two favoured; run times from a hyper-gamma distribution over their
/// logarithm whose mix depends on the size; arrivals from <see cref="ArrivalProcess"/>. The model has no users: they
/// are added here by Zipf's law, and do not influence the schedule.
/// </summary>
public sealed class LublinFeitelsonModel
{
    private const double SerialProbability = 0.244;
    private const double PowerOfTwoProbability = 0.576;
    private const double LogSizeLow = 0.8;
    private const double LogSizeMediumBelowHigh = 2.5;
    private const double SmallSizesProbability = 0.86;

    // The probability of the short run times is Slope * nodes + Intercept: larger jobs run longer.
    private const double ShortSlope = -0.0054;
    private const double ShortIntercept = 0.78;

    // Longer runs than exp(12) s (two days) are drawn again.
    private const double MaxLogRun = 12;

    private const int Users = 64;

    private static readonly GammaDistribution ShortLogRun = new(4.2, 0.94);
    private static readonly GammaDistribution LongLogRun = new(312, 0.03);
    private static readonly double[] UserCumulative = ZipfCumulative(Users);

    private readonly int _nodes;
    private readonly ModelRandom _random;
    private readonly ArrivalProcess _arrivals;

    public LublinFeitelsonModel(int nodes, ulong seed)
    {
        _nodes = nodes;
        _random = new ModelRandom(seed);
        _arrivals = new ArrivalProcess(_random);
    }

    /// <summary>The jobs as the model gives them, numbered from 1, before any calibration of the load.</summary>
    public static Workload Generate(int jobs, int nodes, ulong seed)
    {
        var model = new LublinFeitelsonModel(nodes, seed);
        return new Workload($"Lublin-Feitelson model, seed {seed}", nodes,
            Enumerable.Range(1, jobs).Select(number => model.Next(number)).ToList());
    }

    /// <summary>Draws the next job in arrival order.</summary>
    public Job Next(long number)
    {
        var submit = (long)_arrivals.Next();
        int size = NextSize();
        return new Job(number, submit, NextRunSeconds(size), size, NextUser());
    }

    private int NextSize()
    {
        double kind = _random.NextUnit();
        if (kind <= SerialProbability || _nodes == 1)
            return 1;
        double high = Math.Log2(_nodes);
        double low = Math.Min(LogSizeLow, high);
        double medium = Math.Clamp(high - LogSizeMediumBelowHigh, low, high);
        (double from, double to) = _random.NextUnit() <= SmallSizesProbability ? (low, medium) : (medium, high);
        double logSize = from + _random.NextUnit() * (to - from);
        if (kind <= SerialProbability + PowerOfTwoProbability)
            logSize = Math.Floor(logSize + 0.5);
        // Rounding up could pass the machine's size where that is no power of two.
        return Math.Min(_nodes, (int)(Math.Pow(2, logSize) + 0.5));
    }

    private long NextRunSeconds(int size)
    {
        double shortProbability = Math.Clamp(ShortSlope * size + ShortIntercept, 0, 1);
        double logRun;
        do
            logRun = (_random.NextUnit() <= shortProbability ? ShortLogRun : LongLogRun).Sample(_random);
        while (logRun > MaxLogRun);
        return (long)Math.Exp(logRun);
    }

    private int NextUser()
    {
        double at = _random.NextUnit();
        int user = Array.FindIndex(UserCumulative, cumulative => at <= cumulative);
        return user < 0 ? Users : user + 1;
    }

    private static double[] ZipfCumulative(int count)
    {
        double total = Enumerable.Range(1, count).Sum(rank => 1.0 / rank);
        double sum = 0;
        return [.. Enumerable.Range(1, count).Select(rank => sum += 1.0 / rank / total)];
    }
}
