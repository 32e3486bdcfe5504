namespace Corfu.Peers;

/// <summary>How much is measured.</summary>
/// <param name="Seconds">Seconds of one measurement: one operation at one number of callers.</param>
/// <param name="WarmUp">Seconds for each operation after the servers of a round have started.</param>
/// <param name="CountSeconds">Seconds of one measurement in which syncs are counted.</param>
internal sealed record RunPlan(int Rounds, double Seconds, double WarmUp, double CountSeconds, LoadShape Load)
{
    /// <summary>Callers at once, each with one operation in flight.</summary>
    public static IReadOnlyList<int> InFlight { get; } = [1, 64, 512];

    public static RunPlan Full { get; } = new(5, 2, 2, 1, new LoadShape(128, InFlight[^1]));

    public static RunPlan Quick { get; } = new(1, 0.4, 0.3, 0.25, new LoadShape(128, InFlight[^1]));

    /// <summary>Before each measurement, not counted: the queues fill.</summary>
    public double Settling => Seconds / 8;
}
