namespace Corfu.Load;

/// <summary>A measured workload with its baselines of the same run: the JSON line, and the source of the
/// table.</summary>
/// <param name="RatioToEcho">Operations per second, as a part of the bare echo's.</param>
/// <param name="RatioToDisk">Median latency, as a multiple of a bare write and fdatasync.</param>
internal sealed record RunReport(
    string Verb,
    RunInfo Run,
    RunParameters Parameters,
    RoundResult Median,
    IReadOnlyList<RoundResult> Rounds,
    RoundResult? Echo,
    RoundResult? Disk,
    RoundResult? Fio,
    double? RatioToEcho,
    double? RatioToDisk);

/// <param name="Processes">Load generators; each has one connection per role.</param>
/// <param name="InFlight">Operations at once, all processes together.</param>
internal sealed record RunParameters(int Processes, int InFlight, int Size, double Seconds, string Target);
