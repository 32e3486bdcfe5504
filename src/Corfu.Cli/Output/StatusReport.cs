using System.Globalization;

namespace Corfu.Cli;

/// <summary>Prints a running cluster's status.</summary>
internal static class StatusReport
{
    public static async Task WriteAsync(TextWriter output, StatusJson status)
    {
        var p = status.Projection;
        await output.WriteLineAsync($"epoch {p.Epoch}: {p.Reason}");
        var rate = status.Rate is { } perSecond ? string.Create(CultureInfo.InvariantCulture, $", {perSecond:0} positions/s") : "";
        await output.WriteLineAsync($"tail {status.Tail?.ToString(CultureInfo.InvariantCulture) ?? "unknown: no sequencer answers"}{rate}; trimmed below {status.TrimMark}; {status.Segments} segments, {p.Chains.Count} chains for new entries");
        await output.WriteLineAsync(string.Join("  ", p.Chains.Select(chain => string.Join('>', chain.Select(unit => NameOf(status, unit))))));
        await output.WriteLineAsync($"automatic reconfiguration: {(status.Automatic switch { true => "on", false => "off", _ => "no agent answers" })}");
        foreach (var held in status.Held) await output.WriteLineAsync($"held back: {held}");
        foreach (var work in status.Work)
            await output.WriteLineAsync(Progress.Line(work.What, work.Done, work.Total, work.Bytes, TimeSpan.FromSeconds(work.ElapsedSeconds), work.RemainingSeconds is { } left ? TimeSpan.FromSeconds(left) : null));
        await output.WriteLineAsync();
        var rows = new List<string[]> { new[] { "ENDPOINT", "ROLE", "IDENTITY", "DUTY", "HEALTH", "WHY" } };
        rows.AddRange(status.Nodes.Select(node => new[] { node.Endpoint, node.Role, node.Id[..8], node.Duty, node.Health, node.Why }));
        foreach (var line in TextTable.Format(rows)) await output.WriteLineAsync(line);
        await output.WriteLineAsync();
    }

    private static string NameOf(StatusJson status, string unit) => status.Nodes.FirstOrDefault(node => node.Id == unit)?.Endpoint ?? unit[..8];
}
