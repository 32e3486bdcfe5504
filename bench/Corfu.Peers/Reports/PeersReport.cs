using System.Text.Json.Serialization;
using Corfu.Load;

namespace Corfu.Peers;

/// <summary>The whole run: the JSON file, and the source of the tables.</summary>
/// <param name="FileSystem">File system of the folder that all data was in.</param>
/// <param name="Skipped">Peers that cannot run here, with the reason.</param>
internal sealed record PeersReport(
    RunInfo Run,
    string Command,
    string FileSystem,
    RunPlan Plan,
    BaselineReport Baselines,
    IReadOnlyList<TargetReport> Targets,
    IReadOnlyList<SkippedPeer> Skipped)
{
    [JsonIgnore]
    public int Peers => Targets.Count(target => target.IsPeer);

    [JsonIgnore]
    public int Compared => Targets.Count(target => target is { IsPeer: true, Fault: null });

    [JsonIgnore]
    public bool IsComplete => Targets.All(target => target.Fault is null);
}

internal sealed record SkippedPeer(string Name, string Reason);

internal sealed record EchoReport(int InFlight, RoundResult Median);

internal sealed record BaselineReport(IReadOnlyList<EchoReport> Echo, RoundResult Disk);

/// <param name="Fault">Why it was not compared; it has no cells then.</param>
/// <param name="NotCounted">Why its syncs were not counted.</param>
internal sealed record TargetReport(TargetInfo Info, bool IsPeer, string Version, string? Fault, string? NotCounted,
    IReadOnlyList<CellReport> Cells);

/// <param name="ServerMicroseconds">Processor time of all server processes for one operation.</param>
/// <param name="ClientMicroseconds">Processor time of the client process for one operation.</param>
/// <param name="Syncs">Counted apart, after the rounds; null for reads and where nothing could be counted.</param>
internal sealed record CellReport(string Operation, bool Writes, int InFlight, RoundResult Median,
    IReadOnlyList<RoundResult> Rounds, double ServerMicroseconds, double ClientMicroseconds, SyncCount? Syncs);

[JsonSourceGenerationOptions(WriteIndented = true, PropertyNamingPolicy = JsonKnownNamingPolicy.CamelCase)]
[JsonSerializable(typeof(PeersReport))]
internal sealed partial class PeersJson : JsonSerializerContext;
