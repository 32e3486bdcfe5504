using System.Globalization;

namespace Corfu.Cli;

/// <summary>Prints a running cluster's status.</summary>
internal static class StatusReport
{
    // In positions. Programs make checkpoints of what lies about 120,000 back.
    private const long LongHeld = 200_000;

    public static async Task WriteAsync(TextWriter output, StatusJson status)
    {
        var p = status.Projection;
        var tail = status.Tail?.ToString(CultureInfo.InvariantCulture) ?? "unknown";
        var rate = status.Rate is { } perSecond
            ? string.Create(CultureInfo.InvariantCulture, $", {perSecond:0} positions/s")
            : "";
        var automatic = status.Automatic switch { true => "on", false => "off", _ => "no agent answers" };
        await LineAsync(output, status.Verdict);
        await LineAsync(output, $"epoch {p.Epoch}: {p.Reason}");
        await output.WriteLineAsync(
            $"tail {tail}{rate}; trimmed below {status.TrimMark}; {status.Segments} segments, {p.Chains.Count} "
            + "chains for new entries");
        var chains = p.Chains.Select(chain => string.Join('>', chain.Select(unit => NameOf(status, unit))));
        await output.WriteLineAsync(string.Join("  ", chains));
        await output.WriteLineAsync($"automatic reconfiguration: {automatic}");
        if (status.Trim is { } trim) await WriteAsync(output, trim, status.HeldBytes);
        foreach (var held in status.Held) await LineAsync(output, $"held back: {held}");
        foreach (var work in status.Work) await LineAsync(output, $"{work.Agent}: {LineOf(work)}");
        await output.WriteLineAsync();
        string[] header = ["ENDPOINT", "ROLE", "IDENTITY", "DUTY", "HEALTH", "WHY"];
        await TextTable.WriteAsync(output, header, status.Nodes.Select(
            node => new[] { node.Endpoint, node.Role, node.Id[..8], node.Duty, node.Health, node.Why }));
        await output.WriteLineAsync();
    }

    private static async Task WriteAsync(TextWriter output, TrimJson trim, long bytes)
    {
        if (trim.Problem is not null)
        {
            await LineAsync(output, $"trim point: not known: {trim.Problem}");
            return;
        }

        var since = trim.PinnedSince is { } time
            ? string.Create(CultureInfo.InvariantCulture, $" (written {time:yyyy-MM-dd HH:mm:ss}Z)")
            : "";
        var names = trim.Pins.Select(pin => pin switch
        {
            { Kind: "directory" } => "the directory",
            { HoldsValues: true } => $"{pin.Kind} {pin.Name} (holds values from position {trim.Pinned} on)",
            { Group: { } group } => $"{pin.Kind} {pin.Name} (group {group})",
            _ => $"{pin.Kind} {pin.Name}",
        });
        var more = trim.PinCount > trim.Pins.Count ? $" and {trim.PinCount - trim.Pins.Count} more" : "";
        await LineAsync(
            output,
            $"trim point {trim.Released}; pinned at {trim.Pinned}{since} by {string.Join(", ", names)}{more}; "
            + $"{trim.HeldPositions} positions held, {Size(bytes)} on all units");
        if (trim.HeldPositions >= LongHeld)
        {
            foreach (var group in trim.Pins.Where(static pin => !pin.HoldsValues).Select(static pin => pin.Group))
            {
                if (group is null) continue;
                await LineAsync(
                    output,
                    $"group {group} has had no checkpoint for long: a program makes it that knows the types of all "
                    + "members; corfu object delete removes one that no program knows");
            }
        }

        if (trim.Undeclared.Count > 0)
            await output.WriteLineAsync(
                $"undeclared raw streams: {string.Join(", ", trim.Undeclared)} "
                + "(corfu stream retain|release)");
    }

    /// <summary>Reasons and names come from other processes: none begins another line.</summary>
    private static Task LineAsync(TextWriter output, string line) => output.WriteLineAsync(Printable.Of(line));

    private static string Size(long bytes) => bytes < 10 << 20
        ? $"{bytes >> 10} KiB"
        : $"{bytes >> 20} MiB";

    private static string LineOf(WorkJson work)
    {
        var elapsed = TimeSpan.FromSeconds(work.ElapsedSeconds);
        TimeSpan? remaining = work.RemainingSeconds is { } left ? TimeSpan.FromSeconds(left) : null;
        // Between two runs there is nothing to count.
        var isRunning = elapsed > TimeSpan.Zero;
        var line =
            isRunning ? Progress.Line(work.What, work.Done, work.Total, work.Bytes, elapsed, remaining) : work.What;
        if (work.PassedOn) return $"{line}; passed on to the next agent: {work.Why}";
        return work.Why.Length > 0 ? $"{line}; {work.Why}" : line;
    }

    private static string NameOf(StatusJson status, string unit) =>
        status.Nodes.FirstOrDefault(node => node.Id == unit)?.Endpoint ?? unit[..8];
}
