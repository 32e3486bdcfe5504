using System.Globalization;

namespace NamespaceSample.Replay;

/// <summary>Result of a replay.</summary>
/// <param name="Kills">Null: none were asked for.</param>
public sealed record ReplayReport(
    int Changes, int Paths, bool IsMatch, TimeSpan Elapsed, int Aborted, int? Kills, TimeSpan Append)
{
    private const int AppendsPerChange = 3;

    /// <summary>Time that the changes may take if each took as long as three appends.</summary>
    public TimeSpan Bound => AppendsPerChange * Changes * Append;

    public string Speed => string.Create(CultureInfo.InvariantCulture,
        $"p50 of a durable append, one in flight: {Append.TotalMilliseconds:F3} ms; 3 x {Changes} x p50 = "
        + $"{Bound.TotalSeconds:F2} s, took {Elapsed.TotalSeconds:F2} s");

    public override string ToString() => string.Create(CultureInfo.InvariantCulture,
        $"changes={Changes} paths={Paths} match={(IsMatch ? "yes" : "no")} seconds={Elapsed.TotalSeconds:F2} "
        + $"aborted={Aborted}{(Kills is { } kills ? $" kills={kills}" : "")}");
}
