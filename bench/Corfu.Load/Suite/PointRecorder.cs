using HdrHistogram;

namespace Corfu.Load.Suite;

/// <summary>Collects the rounds of one case; it becomes a point of each series that its parts belong to.</summary>
internal sealed class PointRecorder(PointCase point)
{
    private static readonly double[] s_percents =
        [0, 10, 25, 50, 75, 90, 95, 97.5, 99, 99.5, 99.75, 99.9, 99.95, 99.99];

    private readonly Dictionary<string, (List<RoundResult> Rounds, LongHistogram Histogram)> _series = [];
    private readonly List<RoundResult> _echoes = [];
    private readonly List<RoundResult> _disks = [];
    private readonly List<PointCost> _costs = [];

    public PointCase Case => point;

    public void Add(IReadOnlyList<PointShare> shares, RoundResult echo, RoundResult? disk, PointCost cost)
    {
        _costs.Add(cost);
        _echoes.Add(echo);
        if (disk is not null) _disks.Add(disk);
        foreach (var share in shares)
        {
            if (!_series.TryGetValue(share.Series, out var series))
                _series.Add(share.Series, series = ([], Latencies.Create()));
            series.Rounds.Add(RoundResult.Of(share.Histogram, share.Seconds, share.Failures, share.Aborted));
            series.Histogram.Add(share.Histogram);
        }
    }

    public IEnumerable<PointReport> Reports() => _series.Select(series => new PointReport(
        series.Key, point.X, point.Label, point.Baseline, series.Value.Rounds, _echoes, _disks,
        Percentiles(series.Value.Histogram))
    {
        Costs = _costs,
    });

    /// <summary>Only percentiles that at least ten samples lie beyond: the others are chance.</summary>
    public static PercentilePoint[] Percentiles(LongHistogram histogram) =>
    [
        .. s_percents.Where(percent => (100 - percent) / 100 * histogram.TotalCount >= 10)
            .Select(percent => new PercentilePoint(percent, histogram.Microseconds(percent))),
    ];
}
