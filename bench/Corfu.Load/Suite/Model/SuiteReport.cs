using System.Text.Json.Serialization;

namespace Corfu.Load.Suite;

/// <summary>Everything one run of <c>all</c> has measured: <c>report.json</c>, and the source of
/// <c>report.html</c>.</summary>
internal sealed record SuiteReport(string Kind, int Format, SuiteHeader Header, IReadOnlyList<ScenarioReport> Scenarios)
{
    public const string FileKind = "corfu-load-report";
    public const int FileFormat = 1;

    [JsonIgnore]
    public int Failed => Scenarios.Count(scenario => scenario.Error is not null);

    /// <summary>Scenarios that were measured beside their baselines.</summary>
    [JsonIgnore]
    public int WithBaselines => Scenarios.Count(scenario => scenario.HasBaselines);
}

/// <summary>Circumstances without which the figures mean nothing.</summary>
/// <param name="Seconds">Length of a round of one point.</param>
internal sealed record SuiteHeader(
    string Machine,
    int Cores,
    string Kernel,
    string Runtime,
    string Commit,
    string Command,
    DateTimeOffset Time,
    bool Quick,
    int Rounds,
    double Seconds,
    double TotalSeconds);

/// <param name="Name">How the command line and <c>compare</c> call it.</param>
/// <param name="Text">Description of the work, and of what it is compared with.</param>
/// <param name="Axis">Quantity that distinguishes the points of a series, with its unit.</param>
/// <param name="Unit">Things that are counted per second.</param>
internal sealed record ScenarioInfo(string Name, string Title, string Text, string Axis, string Unit,
    IReadOnlyList<PlotKind> Plots);

/// <summary>How a scenario's points are drawn.</summary>
internal enum PlotKind
{
    /// <summary>Throughput against latency, a point for each load.</summary>
    LoadCurve,

    /// <summary>Throughput over the points.</summary>
    Scaling,

    /// <summary>Latency over the percentiles, a line for each point.</summary>
    Percentiles,

    /// <summary>Operations in short intervals around a fault.</summary>
    Timeline,
}

/// <param name="Seconds">How long it took, with its processes' start and warm-up.</param>
/// <param name="Error">Why it has no figures; null: it has.</param>
internal sealed record ScenarioReport(
    ScenarioInfo Info,
    IReadOnlyList<PointReport> Points,
    IReadOnlyList<Timeline> Timelines,
    double Seconds,
    string? Error = null)
{
    [JsonIgnore]
    public bool HasBaselines => Error is null && Points.Any(static point => point.Baseline != Baseline.None)
        && Points.All(static point => point.Baseline == Baseline.None || point.Ratios.Count == point.Rounds.Count);
}

/// <summary>Measurements of a scenario.</summary>
internal sealed record ScenarioResult(IReadOnlyList<PointReport> Points, IReadOnlyList<Timeline> Timelines)
{
    public ScenarioResult(IReadOnlyList<PointReport> points)
        : this(points, [])
    {
    }
}

/// <summary>Operations in intervals of the same length, around a fault at the end of the interval before
/// <paramref name="FaultIndex"/>.</summary>
/// <param name="OutageMilliseconds">The longest time after the fault in which nothing ended.</param>
internal sealed record Timeline(string Fault, int IntervalMilliseconds, int FaultIndex, double OutageMilliseconds,
    IReadOnlyList<int> Counts);

[JsonSourceGenerationOptions(UseStringEnumConverter = true, WriteIndented = true,
    PropertyNamingPolicy = JsonKnownNamingPolicy.CamelCase)]
[JsonSerializable(typeof(SuiteReport))]
internal sealed partial class SuiteJson : JsonSerializerContext;
