using System.Globalization;
using System.Text.Json;

namespace Corfu.Load;

/// <summary>Appends through a front end beside what bounds them, all of one run. An operation of <see cref="Median"/>,
/// <see cref="Rounds"/> and <see cref="GrpcEcho"/> is a message; one of <see cref="Native"/> is an entry.</summary>
/// <param name="Batch">Entries of a message.</param>
/// <param name="Native">The native client on the same cluster, with as many entries in flight.</param>
/// <param name="MessagesToGrpcEcho">Messages per second, as a part of the gRPC echo's.</param>
/// <param name="EntriesToNative">Entries per second, as a part of the native client's.</param>
internal sealed record GrpcReport(
    string Verb,
    RunInfo Run,
    RunParameters Parameters,
    int Batch,
    RoundResult Median,
    IReadOnlyList<RoundResult> Rounds,
    RoundResult GrpcEcho,
    RoundResult Native,
    RoundResult Echo,
    RoundResult Disk,
    double MessagesToGrpcEcho,
    double EntriesToNative)
{
    /// <summary>The table for people, then the JSON line for tools.</summary>
    public async Task WriteAsync(TextWriter output)
    {
        var p = Parameters;
        await output.WriteLineAsync(string.Create(
            CultureInfo.InvariantCulture,
            $"{Verb}: {p.Processes} processes, {p.InFlight} messages in flight, {Batch} x {p.Size} bytes a message, "
            + $"{Rounds.Count} rounds of {p.Seconds} s, {p.Target}"));
        await output.WriteLineAsync($"{Run.Machine}, commit {Run.Commit}");
        await ReportWriter.WriteHeadAsync(output);
        for (var i = 0; i < Rounds.Count; i++) await ReportWriter.WriteAsync(output, $"round {i + 1}", Rounds[i]);
        await ReportWriter.WriteAsync(output, "median", Median);
        await ReportWriter.WriteAsync(output, "gRPC echo", GrpcEcho);
        await ReportWriter.WriteAsync(output, "native client", Native);
        await ReportWriter.WriteAsync(output, "bare echo", Echo);
        await ReportWriter.WriteAsync(output, "write+fdatasync", Disk);
        await output.WriteLineAsync(string.Create(
            CultureInfo.InvariantCulture,
            $"  {Median.PerSecond * Batch:0} entries/s: {EntriesToNative:0.000} of the native client's, "
            + $"{MessagesToGrpcEcho:0.000} of the gRPC echo's messages"));
        await output.WriteLineAsync(JsonSerializer.Serialize(this, LoadJson.Default.GrpcReport));
    }
}
