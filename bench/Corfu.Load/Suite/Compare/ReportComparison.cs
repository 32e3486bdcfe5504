namespace Corfu.Load.Suite.Compare;

/// <summary>
/// Two reports, point by point. Compared is the ratio to the baseline of the same round, not the absolute figure: a
/// slower machine slows both.
/// </summary>
internal sealed record ReportComparison(IReadOnlyList<PointChange> Changes, IReadOnlyList<string> Notes)
{
    public const double Threshold = 0.10;
    public const double ThresholdOfFewRounds = 0.30;
    public const int EnoughRounds = 3;

    public const string Rule =
        "A change is a regression if it is larger than the noise: the rounds of the two reports do not overlap "
        + "(the best new one is below the worst old one), and the median of the ratio fell by more than 10 %; by "
        + "more than 30 % where a report has fewer than 3 rounds. A scenario that failed in the new report only is a "
        + "regression too.";

    public int Regressions => Changes.Count(static change => change.Verdict == Verdict.Regression);

    public int Improvements => Changes.Count(static change => change.Verdict == Verdict.Improvement);

    /// <exception cref="ReportException">The reports were measured in different ways.</exception>
    public static ReportComparison Of(SuiteReport old, SuiteReport now)
    {
        if (old.Header.Quick != now.Header.Quick)
            throw new ReportException("One report is of a quick run and the other is not: they have other points.");
        if (Math.Abs(old.Header.Seconds - now.Header.Seconds) > 1e-9)
            throw new ReportException(FormattableString.Invariant(
                $"Rounds of {old.Header.Seconds} s and of {now.Header.Seconds} s cannot be compared."));
        var (before, after) = (PointsOf(old), PointsOf(now));
        var failed = now.Scenarios.Where(scenario => scenario.Error is not null
                && old.Scenarios.Any(one => one.Info.Name == scenario.Info.Name && one.Error is null))
            .Select(scenario => new PointChange(scenario.Info.Name, "all", "failed", [], [], Verdict.Regression));
        PointChange[] changes =
        [
            .. failed,
            .. before.Where(pair => after.ContainsKey(pair.Key)).Select(pair => PointChange.Of(
                pair.Key, pair.Value.Ratios, after[pair.Key].Ratios)),
        ];
        if (changes.Length == 0) throw new ReportException("The reports have no point in common.");
        return new ReportComparison(changes, [.. NotesOf(old, now, before.Keys, after.Keys)]);
    }

    private static IEnumerable<string> NotesOf(SuiteReport old, SuiteReport now, IReadOnlyCollection<PointKey> before,
        IReadOnlyCollection<PointKey> after)
    {
        if (old.Header.Machine != now.Header.Machine || old.Header.Kernel != now.Header.Kernel)
            yield return $"other machine: {old.Header.Machine}, kernel {old.Header.Kernel}; then "
                + $"{now.Header.Machine}, kernel {now.Header.Kernel}";
        foreach (var key in before.Except(after)) yield return $"only in the old report: {key}";
        foreach (var key in after.Except(before)) yield return $"only in the new report: {key}";
    }

    private static Dictionary<PointKey, PointReport> PointsOf(SuiteReport report)
    {
        var points = new Dictionary<PointKey, PointReport>();
        foreach (var scenario in report.Scenarios)
        {
            foreach (var point in scenario.Points)
            {
                var key = new PointKey(scenario.Info.Name, point.Series, point.Label);
                if (!points.TryAdd(key, point)) throw new ReportException($"A report has the point {key} twice.");
                if (point.Ratios.Count != point.Rounds.Count)
                    throw new ReportException($"The point {key} has rounds without a baseline.");
            }
        }

        return points;
    }
}

internal sealed record PointKey(string Scenario, string Series, string Label)
{
    public override string ToString() => $"{Scenario}, {Series}, {Label}";
}

internal enum Verdict
{
    /// <summary>Within the noise.</summary>
    Same,
    Regression,
    Improvement,
}

/// <summary>The ratios of one point in two reports, a value for each round.</summary>
internal sealed record PointChange(string Scenario, string Series, string Label, IReadOnlyList<double> Old,
    IReadOnlyList<double> New, Verdict Verdict)
{
    /// <summary>Change of the medians: 0 is none, -0.1 is a tenth less.</summary>
    public double Change => Old.Count == 0 ? double.NaN : (RoundResult.Middle(New) / RoundResult.Middle(Old)) - 1;

    public static PointChange Of(PointKey key, IReadOnlyList<double> old, IReadOnlyList<double> now)
    {
        var change = new PointChange(key.Scenario, key.Series, key.Label, old, now, Verdict.Same);
        var threshold = Math.Min(old.Count, now.Count) < ReportComparison.EnoughRounds
            ? ReportComparison.ThresholdOfFewRounds
            : ReportComparison.Threshold;
        if (now.Max() < old.Min() && change.Change < -threshold) return change with { Verdict = Verdict.Regression };
        if (now.Min() > old.Max() && change.Change > threshold) return change with { Verdict = Verdict.Improvement };
        return change;
    }
}
