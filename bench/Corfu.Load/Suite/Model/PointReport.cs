using System.Text.Json.Serialization;

namespace Corfu.Load.Suite;

/// <summary>A figure of a scenario in all of its rounds, each beside the baselines of the same round.</summary>
/// <param name="X">Place on the scenario's axis.</param>
/// <param name="Echo">The bare echo with the same processes, window and size; as many as rounds, or none.</param>
/// <param name="Disk">A caller's write and fdatasync of the same size; as many as rounds, or none.</param>
/// <param name="Percentiles">Percentiles of the latencies of all rounds together; empty if there are too few to have
/// any.</param>
internal sealed record PointReport(
    string Series,
    double X,
    string Label,
    Baseline Baseline,
    IReadOnlyList<RoundResult> Rounds,
    IReadOnlyList<RoundResult> Echo,
    IReadOnlyList<RoundResult> Disk,
    IReadOnlyList<PercentilePoint> Percentiles)
{
    /// <summary>Processor time of each round, of all series of the case together.</summary>
    [JsonIgnore]
    public IReadOnlyList<PointCost> Costs { get; init; } = [];

    [JsonIgnore]
    public RoundResult Median => RoundResult.Median(Rounds);

    [JsonIgnore]
    public RoundResult? EchoMedian => Echo.Count == 0 ? null : RoundResult.Median(Echo);

    [JsonIgnore]
    public RoundResult? DiskMedian => Disk.Count == 0 ? null : RoundResult.Median(Disk);

    /// <summary>For each round what took effect per second, as a part of the baseline's operations per second; without
    /// a baseline the figure itself.</summary>
    public IReadOnlyList<double> Ratios => Baseline switch
    {
        Baseline.Echo => Divide(Echo),
        Baseline.Disk => Divide(Disk),
        _ => [.. Rounds.Select(static round => round.Goodput)],
    };

    private double[] Divide(IReadOnlyList<RoundResult> by) =>
        [.. Rounds.Zip(by, static (round, baseline) => round.Goodput / baseline.PerSecond)];
}

/// <summary>Limit that a figure is a part of.</summary>
internal enum Baseline
{
    /// <summary>The bare echo.</summary>
    Echo,

    /// <summary>A caller's write and fdatasync.</summary>
    Disk,

    /// <summary>Nothing: time-outs decide it, not the machine.</summary>
    None,
}

/// <summary>Processor seconds of a round.</summary>
/// <param name="Servers">0: they are not watched.</param>
internal sealed record PointCost(double Servers, double Generators);

/// <param name="Percent">Share of the samples that were no slower.</param>
internal sealed record PercentilePoint(double Percent, double Microseconds);
