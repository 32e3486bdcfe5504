namespace Corfu.Load;

/// <summary>A load that is measured in every round of its section.</summary>
/// <param name="Name">Distinct within the section.</param>
internal sealed record CraqPoint(string Name, WorkloadKind Kind, int InFlight, int Size)
{
    /// <summary>A server of another kind; null: the nodes.</summary>
    public string? Target { get; init; }

    public WorkloadSetting Setting { get; init; } = WorkloadSetting.Default;

    /// <summary>The chain whose nodes are watched; null: none.</summary>
    public CraqMembers? Members { get; init; }

    /// <summary>Writes of another process at the same time.</summary>
    public CraqWrites? Beside { get; init; }

    /// <summary>Reads of one object of a chain.</summary>
    public static CraqPoint Get(string name, CraqMembers members, int inFlight, int size) =>
        new(name, WorkloadKind.CraqGet, inFlight, size)
        {
            Members = members,
            Setting = new WorkloadSetting { Chains = members.Chain, Object = "read", Keys = 1 },
        };

    /// <summary>Operations of each caller on an object of its own.</summary>
    public static CraqPoint Own(string name, WorkloadKind kind, CraqMembers members, int inFlight, int size) =>
        new(name, kind, inFlight, size)
        {
            Members = members,
            Setting = new WorkloadSetting
            {
                Chains = members.Chain,
                Object = kind.ToString(),
                Keys = CraqPlan.Window,
                OwnKeys = true,
            },
        };
}

/// <param name="Object">The object that all of them write.</param>
/// <param name="PerSecond">Null: as many as 64 in flight can do.</param>
internal sealed record CraqWrites(string Object, double? PerSecond);

/// <summary>A measured round of a point.</summary>
/// <param name="Beside">The writes at the same time; null: none.</param>
/// <param name="NodeSeconds">Processor time of each watched node, from the head to the tail.</param>
/// <param name="ClientSeconds">Processor time of the generators.</param>
/// <param name="Counts">Counts of each watched node.</param>
internal sealed record CraqSample(
    RoundResult Result, RoundResult? Beside, double[] NodeSeconds, double ClientSeconds, NodeCounts[] Counts);

/// <summary>The rounds of a point, and figures that are medians over them.</summary>
internal sealed class CraqRounds(CraqPoint point)
{
    private readonly List<CraqSample> _samples = [];

    public CraqPoint Point => point;

    public IReadOnlyList<CraqSample> Samples => _samples;

    public RoundResult Median => RoundResult.Median([.. _samples.Select(sample => sample.Result)]);

    public RoundResult? Beside => _samples.Exists(sample => sample.Beside is null)
        ? null
        : RoundResult.Median([.. _samples.Select(sample => sample.Beside!)]);

    public long Failures => _samples.Sum(sample => sample.Result.Failures + (sample.Beside?.Failures ?? 0));

    /// <summary>Processor microseconds of all watched nodes for an operation.</summary>
    public double NodeMicroseconds => Middle(sample => sample.NodeSeconds.Sum() * 1e6 / sample.Result.Operations);

    public double ClientMicroseconds => Middle(sample => sample.ClientSeconds * 1e6 / sample.Result.Operations);

    /// <summary>Operations for each second of processor time of the busiest watched node: what the chain could do if
    /// every node had one core, and nothing else were in its way.</summary>
    public double Capacity => Middle(CapacityOf);

    /// <summary>Strong reads that met an uncommitted version, as a part of all.</summary>
    public double DirtyShare => Middle(sample =>
        (double)sample.Counts.Sum(count => count.Dirty) / Math.Max(1, sample.Counts.Sum(count => count.Reads)));

    /// <summary>Questions to the tail for each read that another node has taken.</summary>
    public double QueriesPerRead => Middle(sample =>
        (double)sample.Counts[^1].Queries / Math.Max(1, sample.Counts[..^1].Sum(count => count.Reads)));

    /// <summary>Questions to the tail in one second.</summary>
    public double QueriesPerSecond => Middle(sample => sample.Counts[^1].Queries / sample.Result.Seconds);

    public void Add(CraqSample sample) => _samples.Add(sample);

    /// <summary>The median of the rounds' ratios, each of one round.</summary>
    public double Ratio(CraqRounds baseline, Func<RoundResult, double> figure) => RoundResult.Middle(
        _samples.Zip(baseline.Samples, (own, other) => figure(own.Result) / figure(other.Result)));

    public double CapacityRatio(CraqRounds baseline) => RoundResult.Middle(
        _samples.Zip(baseline.Samples, static (own, other) => CapacityOf(own) / CapacityOf(other)));

    private static double CapacityOf(CraqSample sample) =>
        sample.Result.Operations / Math.Max(1e-3, sample.NodeSeconds.Max());

    private double Middle(Func<CraqSample, double> figure) => RoundResult.Middle(_samples.Select(figure));
}
