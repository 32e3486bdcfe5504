namespace Corfu.Load.Suite;

/// <summary>Environment of a scenario's run.</summary>
/// <param name="Folder">For files of baselines; on the disk that the clusters use.</param>
internal sealed record SuiteRun(SuiteSettings Settings, SuiteClusters Clusters, string Folder, Action<string> Say)
{
    /// <summary>Measures the cases on the cluster that most scenarios share.</summary>
    public async Task<ScenarioResult> MeasureAsync(IEnumerable<PointCase> cases, CancellationToken cancellationToken) =>
        new(await MeasureAsync(await Clusters.SharedAsync(cancellationToken), cases, cancellationToken));

    /// <param name="target">A connection string, or the address of a bare role.</param>
    public Task<IReadOnlyList<PointReport>> MeasureAsync(string target, IEnumerable<PointCase> cases,
        CancellationToken cancellationToken) =>
        new PointRounds(Settings, Folder, Say).RunAsync(
            target, [.. cases.Where(one => one.InQuick || !Settings.Quick)], cancellationToken);
}

/// <param name="Seconds">Length of a round of one point.</param>
internal sealed record SuiteSettings(bool Quick, int Rounds, double Seconds)
{
    public const int FullRounds = 5;
    public const double FullSeconds = 1;
    public const double QuickSeconds = 0.25;

    public TimeSpan Round => TimeSpan.FromSeconds(Seconds);

    /// <summary>Connections, objects and compiled code are there before the first round.</summary>
    public TimeSpan WarmUp { get; init; } = TimeSpan.FromSeconds(Seconds / 2);

    public TimeSpan BaselineRound => TimeSpan.FromSeconds(Seconds / 3);
}
